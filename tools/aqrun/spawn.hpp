#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>
#include <signal.h>
#include <sys/types.h>

namespace aqrun {

/// The file to execute, found as a shell would; or, if there is none, the shell's status and why.
struct Found {
  std::string file;
  int status = 0;  ///< 127 not found, 126 not executable
  std::string why;
};
Found find_program(const std::string& name);

/// What a new process begins with.
struct Start {
  const char* file = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  int input = -1, output = -1, errors = -1;
  int keep = -1;    ///< a further descriptor that it inherits
  pid_t group = 0;  ///< to join
  const cpu_set_t* processors = nullptr;
  sigset_t signals;  ///< the mask to begin with
};

/// Starts a process that ends with this one, however this one ends. Returns its number, or -1 and errno.
pid_t spawn(const Start& start);

/// A process that does nothing but lead the group of all ranks and everything they start. Should aqrun be
/// killed, the leader sees its pipe close, kills the group and removes the job's shared memory; the ranks would
/// end without it, but not their children. (Those who leave the group with setsid are out of its reach.)
class Leader {
 public:
  /// Requires: called first of all, while there are no other descriptors for the leader to inherit.
  /// `folder`: see leftovers.hpp.
  explicit Leader(std::string folder);
  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  const std::string& folder() const noexcept { return folder_; }
  /// Tells the leader which job's shared memory it would have to remove.
  void leads(std::uint64_t job) noexcept;
  pid_t group() const noexcept { return pid_; }  ///< -1 if it could not be started
  /// To all members but the leader, except SIGKILL, which ends it too; after that there is no group any more.
  void signal_group(int signal) noexcept;

 private:
  std::string folder_;
  pid_t pid_ = -1;
  int pipe_ = -1;
  bool killed_ = false;  // then the number may belong to others
};

/// Kills what is still a child of this process: those whose parents ended and who had left the group.
void kill_adopted() noexcept;

}  // namespace aqrun
