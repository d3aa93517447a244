#pragma once

#include <sys/types.h>

namespace aqueduct::perf {

/// A process that keeps this thread's current core busy as long as this object lives.
class BusyProcess {
 public:
  /// Throws Failure if the system cannot start a process.
  BusyProcess();
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;
  ~BusyProcess();

  /// Processor seconds that the process has used so far.
  double core_seconds() const;

 private:
  pid_t pid_;
};

/// What that process runs: a busy loop. Never returns; the process ends with its parent.
[[noreturn]] void keep_busy();

/// The first argument that selects it.
inline constexpr const char* kKeepBusy = "keep-busy";

}  // namespace aqueduct::perf
