#pragma once

#include "bootstrap/server.hpp"
#include "tools/aqrun/input.hpp"
#include "tools/aqrun/options.hpp"
#include "tools/aqrun/output.hpp"
#include "tools/aqrun/spawn.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/types.h>

namespace aqrun {

/// Runs one job from the first start to the last ending: one loop over sockets, pipes, signals and the clock.
///
/// The first event that spoils the job (a failure, an interrupt, an abort, the time limit) fixes its status.
/// From then on: grace, while the ranks may end by themselves; SIGTERM; SIGKILL.
class Supervisor {
 public:
  Supervisor(const Options& options, Leader& leader);
  ~Supervisor();

  /// Returns the status with which aqrun ends.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase { running, grace, terminating, killing };
  struct Process {
    pid_t pid = -1;
    bool running = false;
  };

  bool start_all();
  std::string start_one(std::uint32_t i, Start start, std::vector<char*> environment);
  void wait_and_serve();
  void take_signals();
  void reap();
  void ended(std::uint32_t i, int wait_status);
  void failed(std::uint32_t i, const std::string& how, int status);
  void interrupted(int signal);
  void check_abort();
  void check_deadlines();
  void enter(Phase phase);
  void signal_all(int signal);
  void spoiled(int status);
  void leave_nothing();
  void say(const std::string& line);
  void say_verbose(const std::string& line);
  std::string name_of(std::uint32_t i) const;
  std::uint32_t running_ranks() const;
  std::string others() const;

  const Options& options_;
  Leader& leader_;
  sigset_t old_mask_;
  int signals_ = -1;
  aqueduct::bootstrap::Server server_;
  Input input_;
  Output output_, errors_;
  std::vector<Process> processes_;
  std::uint32_t running_ = 0;  // processes

  Phase phase_ = Phase::running;
  std::optional<Clock::time_point> phase_ends_, job_ends_;
  std::optional<int> status_;  // once the job is spoiled
  bool interrupted_ = false;
  bool abort_seen_ = false;
  bool hopeless_ = false;  // processes that do not end
  bool hurried_ = false;   // the user does not want to wait for our readers either
};

}  // namespace aqrun
