#pragma once

#include <sys/types.h>

namespace aqueduct::perf {

/// A process that keeps the core busy on which this thread runs now, until this object ends.
class BusyProcess {
 public:
  /// Throws Failure when the system gives no process.
  BusyProcess();
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;
  ~BusyProcess();

  /// Processor seconds it has taken so far.
  double core_seconds() const;

 private:
  pid_t pid_;
};

/// What that process does: nothing, busily. Never returns; ends with its parent.
[[noreturn]] void keep_busy();

/// The first argument that asks for it.
inline constexpr const char* kKeepBusy = "keep-busy";

}  // namespace aqueduct::perf
