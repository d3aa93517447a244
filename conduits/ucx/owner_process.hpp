#pragma once

#include <cstdint>

namespace aqueduct::conduits::ucx {

/// The process that owns a segment, as a neighbour finds it.
struct OwnerProcess {
  std::uint64_t space = 0;  ///< of its pids: the inode of /proc/self/ns/pid; 0: unknown
  std::int64_t pid = 0;
};

/// This process.
OwnerProcess this_process() noexcept;

/// Whether that process has lost its memory, because it ends or has ended.
///
/// UCX 1.13 crashes if it unpacks a key of shared memory whose last owner is gone: after the failed attach it releases keys that
/// it has not filled in. So the conduit looks just before, which leaves some microseconds instead of the time until a loss is
/// noticed. False if this process cannot tell.
bool has_lost_memory(const OwnerProcess& owner) noexcept;

}  // namespace aqueduct::conduits::ucx
