#pragma once

#include <cstddef>

namespace aqueduct::conduits::ibv {

/// How much memory a host lets its processes pin.
struct Pinnable {
  std::size_t memory = 0;  ///< of the host
  std::size_t per_process =
      0;  ///< what `ulimit -l` allows; SIZE_MAX: unlimited, or this process may exceed it
};
Pinnable pinnable_here() noexcept;

/// How many ranks share it.
struct Sharers {
  std::size_t on_host = 1;
  std::size_t in_process = 1;  ///< of those, in this process
};

/// A smaller share is of no use: registering such short pieces takes longer than their transfer.
inline constexpr std::size_t kLeastShare = 1 << 20;

/// How much local memory outside segments one rank may have registered. `budget`: for all ranks of the host together;
/// 0: an amount that leaves most of the memory and half of the limit for other uses, pinned (segments, queues) or not.
std::size_t pinned_share(const Pinnable& host, std::size_t budget, const Sharers& sharers) noexcept;

}  // namespace aqueduct::conduits::ibv
