#pragma once

#include "tools/aqrun/spawn.hpp"

#include <cstdint>
#include <ctime>
#include <functional>
#include <vector>

#include <signal.h>
#include <sys/types.h>

namespace aqrun {

/// Whether a signal to aqrun says something to the ranks (SIGUSR1, SIGUSR2): batch systems announce so that the time is
/// nearly over. All others ask to end.
bool is_for_ranks(int signal) noexcept;

/// The processes that this one has started, and the signals that it gets: SIGCHLD, those that ask it to end and those for
/// the ranks. One descriptor delivers the signals instead of handlers.
class Children {
 public:
  /// `leader`: leads the group that all children join.
  explicit Children(Leader& leader);
  ~Children();
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  /// Becomes readable when `take_signals` has something to do.
  int descriptor() const noexcept { return signals_; }
  const Leader& leader() const noexcept { return leader_; }

  /// Like spawn(), in the group and with the signal mask that this process started with.
  pid_t start(Start start);
  /// Calls `ended` for each child that has ended, and `asked` for each other signal. If one has ended, waits once, up to kWaitForFirst, for the child `first`, of which the others know that it ends, and tells of it before those that
  /// were not killed. 0: there is no such child.
  void take_signals(pid_t first, const std::function<void(pid_t, int wait_status)>& ended,
                    const std::function<void(int signal)>& asked);
  /// Sends a signal to the whole group, and to children that are not in it.
  void signal_all(int signal) noexcept;
  /// Sends a signal to a rank alone: to the process that has joined the job, or to `started` if none has (0). What the rank has
  /// started itself, or a shell that waits for it, would end by it.
  void signal_rank(pid_t started, pid_t joined, int signal) noexcept;
  /// Kills everything that the children have left behind, and removes the job's shared memory.
  void leave_nothing(std::uint64_t job);

 private:
  static bool wait_for(pid_t child, int& status);
  bool kill_adopted();

  Leader& leader_;
  sigset_t old_mask_;
  int signals_ = -1;
  std::vector<pid_t> running_;
  std::vector<pid_t> found_;  // of a program that has become this one (exec in a shell): not ours to end
  std::vector<pid_t> ended_;  // all others that were waited for
  const std::time_t since_ = std::time(nullptr);
  pid_t waited_for_ = 0;
};

}  // namespace aqrun
