#pragma once

#include "tools/aqrun/children.hpp"
#include "tools/aqrun/input.hpp"
#include "tools/aqrun/options.hpp"
#include "tools/aqrun/output.hpp"
#include "tools/aqrun/rank_program.hpp"
#include "tools/aqrun/remote.hpp"
#include "tools/launch/server.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace aqrun {

/// Runs one job from its first start to its last ending, in one loop over sockets, pipes, signals and the clock. The
/// ranks are children of this process, or of agents on other hosts (`remote_`).
///
/// The first event that spoils the job (a failure, an interrupt, an abort, the time limit, a rank that leaves with a
/// code) determines the exit status; if that is the code 0 of such a rank, the next one does. Then three phases follow: grace, in
/// which the ranks may end by themselves; SIGTERM; SIGKILL.
class Supervisor : private HostConnectionOwner {
 public:
  Supervisor(const Options& options, Leader& leader);

  /// Returns aqrun's exit status.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kLostOutputStatus = 1;  // as cat(1) and others
  enum class Phase { running, grace, terminating, killing };
  struct Process {
    pid_t pid = -1;
    bool running = false;
    std::string where;  // " on b" for processes on other hosts
  };

  bool start_all();
  bool start_local();
  bool start_remote();
  std::string start_one(std::uint32_t i, RankProgram& program);
  void rank_started(std::uint32_t process, pid_t pid) override;
  void rank_ended(std::uint32_t process, int wait_status) override { ended(process, wait_status); }
  void host_failed(const Share& share, const std::string& why, int status, bool early) override;
  void output_lost(const Share& share, const std::string& how) override;
  void wait_and_serve();
  void reaped(pid_t pid, int wait_status);
  void ended(std::uint32_t i, int wait_status);
  void failed(std::uint32_t i, const std::string& how, int status);
  void pass_on(int signal);
  void interrupted(int signal);
  void check_abort();
  void check_exit();
  void check_deadlines();
  void tell_who_is_missing();
  void check_outputs();
  void check_readers();
  /// Whether aqrun or the user ends the ranks: how they end then is reported only with --verbose.
  bool is_ending() const noexcept { return interrupted_ || phase_ >= Phase::terminating; }
  void enter(Phase phase);
  void signal_all(int signal);
  void spoiled(int status);
  void clear_remote();
  void bring_the_rest();
  std::chrono::seconds patience() const;
  void say(const std::string& line);
  void say_verbose(const std::string& line);
  std::string name_of(std::uint32_t i) const;
  std::uint32_t running_ranks() const;
  std::string others() const;
  std::string others_than(std::uint32_t i) const;
  static std::string ending(std::uint32_t ranks);

  const Options& options_;
  Children children_;
  aqueduct::launch::Server server_;
  Input input_;
  Output output_, errors_;
  RemoteJob remote_job_;
  std::optional<Remote> remote_;
  std::vector<Process> processes_;
  std::uint32_t running_ = 0;  // processes

  Phase phase_ = Phase::running;
  std::optional<Clock::time_point> phase_ends_, job_ends_, patience_ends_;
  std::optional<Clock::time_point> notice_at_;  // when the user is told for whom aqrun still waits
  std::optional<Clock::time_point> readers_until_;
  std::uint64_t readers_accepted_ = 0;
  bool reader_told_ = false;   ///< that a second SIGINT ends the wait for a reader
  std::optional<int> status_;  // set once the job is spoiled
  bool first_has_left_ = false;
  bool interrupted_ = false;
  bool from_keyboard_ = false;  // the first signal was SIGINT
  bool timed_out_ = false;
  bool abort_seen_ = false;
  bool exit_seen_ = false;
  bool output_lost_ = false;
  bool errors_lost_ = false;
  bool hopeless_ = false;  // some processes do not even end by SIGKILL
  bool hurried_ = false;   // the user does not want to wait for the remaining output either
};

}  // namespace aqrun
