#pragma once

#include "tools/aqperf/measure/session.hpp"

#include <cstddef>
#include <span>

#include <sys/types.h>

namespace aqueduct::perf {

/// The kernel's copy to and from another process's memory: one process_vm_writev or process_vm_readv per transfer.
/// The comparator of transfers to memory outside any mapped segment.
class CrossMemory {
 public:
  /// Collective: learns the address of every rank's target memory.
  CrossMemory(Session& session, Rank peer);
  /// Whether the system allows it at every rank that asked.
  bool usable() const noexcept { return usable_; }

  bool write(std::span<const std::byte> from) const noexcept;
  bool read(std::span<std::byte> to) const noexcept;

 private:
  pid_t process_ = 0;
  std::byte* place_ = nullptr;
  bool usable_ = false;
};

}  // namespace aqueduct::perf
