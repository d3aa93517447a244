#pragma once

#include <cstddef>

namespace aqueduct::conduits::ibv {

/// What a host lets its processes pin.
struct Pinnable {
  std::size_t memory = 0;  ///< of the host
  std::size_t per_process =
      0;  ///< what `ulimit -l` allows; SIZE_MAX: all, or this process may pass the limit
};
Pinnable pinnable_here() noexcept;

/// Who shares it.
struct Sharers {
  std::size_t on_host = 1;
  std::size_t in_process = 1;  ///< of them
};

/// Less is of no use: a transfer's registration would be shorter than what it costs.
inline constexpr std::size_t kLeastShare = 1 << 20;

/// How much local memory outside segments one rank may have registered. `budget`: what all ranks of the host may; 0: as much
/// as leaves most of the memory and half of the limit to what else is pinned (segments, queues) or needed.
std::size_t pinned_share(const Pinnable& host, std::size_t budget, const Sharers& sharers) noexcept;

}  // namespace aqueduct::conduits::ibv
