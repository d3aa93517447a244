#pragma once

#include "tools/aqrun/host_connection.hpp"
#include "tools/aqrun/input.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace aqrun {

/// The connections to all other hosts of a job.
class Remote {
 public:
  explicit Remote(RemoteJob& job) : job_(job) {}

  /// Starts a command for each host. Returns why one cannot be started, or nothing; earlier ones may then be running.
  std::string start(Children& children, Input& input);

  void wait_for(std::vector<pollfd>& events) const;
  void serve();
  /// To be called when one of the commands has ended.
  void reaped(pid_t pid, int wait_status);
  void check_deadlines();
  /// The time at which `check_deadlines` has to be called.
  std::optional<HostConnection::Clock::time_point> deadline() const;

  /// Sends a signal to all ranks. Hosts that have not started any will not start any.
  void signal(int number);
  /// Sends a signal that does not end them to all ranks that have been asked for.
  void pass_on(int number);
  /// No rank runs any more: asks all agents to kill everything that is left.
  void clear();
  void give_up_on_uncleared();
  /// How many frames have arrived from all hosts together.
  std::uint64_t heard() const;
  /// Kills the commands that still run, and returns their hosts.
  std::string give_up();
  bool is_cleared() const;
  /// Of the hosts whose commands still run.
  bool has_all_output() const;
  bool is_gone() const;

 private:
  RemoteJob& job_;
  std::vector<std::unique_ptr<HostConnection>> connections_;
};

}  // namespace aqrun
