#pragma once

#include "tools/aqrun/channel.hpp"
#include "tools/aqrun/children.hpp"
#include "tools/aqrun/options.hpp"
#include "tools/aqrun/output.hpp"
#include "tools/launch/server.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <poll.h>

namespace aqrun {

/// Receives what happens to the ranks on other hosts.
class HostConnectionOwner {
 public:
  virtual void rank_started(std::uint32_t process, pid_t pid) = 0;
  virtual void rank_ended(std::uint32_t process, int wait_status) = 0;
  /// All ranks that still ran there are lost, or were never started (`early`).
  virtual void host_failed(const Share& share, const std::string& why, int status, bool early) = 0;
  /// All ranks there have ended, but `how` the command ended, the end of their output did not arrive.
  virtual void output_lost(const Share& share, const std::string& how) = 0;

 protected:
  ~HostConnectionOwner() = default;
};

/// The part of a job that all connections to its hosts share.
struct RemoteJob {
  const Options& options;
  aqueduct::launch::Server& server;
  Output& output;
  Output& errors;
  HostConnectionOwner& owner;
};

/// The connection to one other host. It has the command that reaches the host (such as ssh), the agent that the command
/// starts there, and the streams of the ranks there, which arrive here like those of local ranks.
class HostConnection {
 public:
  using Clock = std::chrono::steady_clock;

  HostConnection(RemoteJob& job, const Share& share);

  /// Starts the command. Returns why it cannot be started, or nothing.
  std::string start(Children& children, const std::vector<std::string>& command);
  /// Relays our input, from this pipe, to the first rank, which is on that host.
  void gives_input(int pipe) { input_ = Tube(pipe); }

  pid_t pid() const noexcept { return pid_; }
  void wait_for(std::vector<pollfd>& events) const;
  void serve();
  /// To be called when the command has ended.
  void reaped(int wait_status);
  void check_deadline();
  std::optional<Clock::time_point> deadline() const noexcept { return gone_ ? std::nullopt : deadline_; }

  /// Sends a signal to all ranks there. If none has been started yet, none will be.
  void signal(int number);
  /// Called when no rank runs any more: asks the agent to kill everything that is left.
  void clear();
  void kill() noexcept;
  /// Whether no process is left there, and everything that was written there has arrived.
  bool is_cleared() const noexcept { return cleared_ || gone_; }
  bool is_gone() const noexcept { return gone_; }
  bool has_answered() const noexcept { return answered_; }
  /// Whether all streams of the ranks there have ended here. They need not, if a process there cannot even be killed.
  bool has_all_output() const noexcept;
  /// How many frames have arrived from there.
  std::uint64_t heard() const noexcept { return heard_; }
  const Share& share() const noexcept { return share_; }

 private:
  struct Process {
    Tube bootstrap;
    std::array<int, 2> streams{-1, -1};  // the ranks' numbers in Output
    std::array<bool, 2> at_end{false, false};
    bool over = false;
  };

  void take(Frame& frame);
  void take_hello(const Frame& frame);
  void take_for_process(Frame& frame, Process& process);
  void take_from_process(Frame& frame, std::size_t stream, Process& process);
  void send_setup();
  std::string prepare(Process& process, std::uint32_t i, std::string& about);
  std::vector<std::string> variables() const;
  void relay_bootstrap();
  void relay_input();
  void grant();
  void fail(std::string why, int status = 1);
  void check_channel();
  void tell_end(int wait_status);

  RemoteJob& job_;
  const Share share_;
  std::string program_;  // the command's program
  std::string folder_;   // the ranks' working folder
  Channel channel_{-1, -1};
  pid_t pid_ = -1;
  std::vector<Process> processes_;
  Tube input_;
  std::uint32_t input_allowed_ = kWindow;
  std::array<std::uint32_t, 2> owed_{0, 0};  // bytes taken that the agent has not been told of yet
  std::array<bool, 2> shut_{false, false};
  std::uint32_t started_ = 0;
  std::uint64_t heard_ = 0;  // frames received
  bool answered_ = false, end_seen_ = false, cleared_ = false, gone_ = false;
  std::optional<Clock::time_point>
      deadline_;     // for an answer; after the end of the stream, for the end of the command
  std::string why_;  // the reason of a failure; empty if the command's exit status tells it
  int status_ = 1;
};

}  // namespace aqrun
