#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>
#include <signal.h>
#include <sys/types.h>

namespace aqrun {

/// The file to execute, found as a shell finds it; or the shell's exit status and the reason.
struct Found {
  std::string file;
  int status = 0;  ///< 127 not found, 126 not executable
  std::string why;
};
Found find_program(const std::string& name);

/// How a new process starts.
struct Start {
  const char* file = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  int input = -1, output = -1, errors = -1;
  int keep = -1;    ///< one more descriptor to inherit
  pid_t group = 0;  ///< the group to join
  const cpu_set_t* processors = nullptr;
  sigset_t signals;  ///< the signal mask
};

/// Starts a process that is killed when this one ends for any reason. Returns its process id, or -1 and errno.
pid_t spawn(const Start& start);

/// A process that only leads the group of all ranks and everything they start. If aqrun is killed, the leader's pipe
/// closes; it then kills the group and removes the job's shared memory. Without it the ranks would end, but their
/// children would not. (It cannot reach processes that leave the group with setsid.)
class Leader {
 public:
  /// Requires: called before any other descriptors are opened, which the leader would
  ///           inherit. `folder`: see leftovers.hpp.
  explicit Leader(std::string folder);
  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  const std::string& folder() const noexcept { return folder_; }
  /// Tells the leader whose shared memory it has to remove.
  void leads(std::uint64_t job) noexcept;
  pid_t group() const noexcept { return pid_; }  ///< -1 if it could not be started
  /// Sends a signal to all members but the leader. SIGKILL kills the leader too, and then the group no longer exists.
  void signal_group(int signal) noexcept;

 private:
  std::string folder_;
  pid_t pid_ = -1;
  int pipe_ = -1;
  bool killed_ = false;  // then another process may get the number
};

/// The children of this process, dead ones too; empty if the system does not say.
std::vector<pid_t> children_of_this_process();

}  // namespace aqrun
