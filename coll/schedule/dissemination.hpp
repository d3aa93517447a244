#pragma once

#include <aqueduct/rank.hpp>

#include <cstdint>

namespace aqueduct::coll {

/// Who signals to whom in a dissemination among numbers 0 to ranks - 1. In round j a number signals to those at distances
/// k^j, 2·k^j, …, (k-1)·k^j, and waits for as many signals from the other side. After ceil(log_k P) rounds each has heard,
/// directly or not, of all others.
///
/// Source: Hensgen, Finkel and Manber, Int. J. Parallel Programming 17(1), 1988; with k - 1 signals a round as in MPICH.
struct Dissemination {
  Rank ranks = 1;
  std::uint32_t radix = 2;

  /// A signal, counted over all rounds.
  struct Hop {
    std::uint32_t round = 0;
    std::uint32_t number = 0;    ///< within the round
    std::uint64_t distance = 1;  ///< below `ranks`
  };
  Hop hop(std::uint32_t index) const noexcept;
  std::uint32_t hops() const noexcept;  ///< of one number, in all rounds
  std::uint32_t rounds() const noexcept;
  /// The signals that arrive in a round.
  std::uint32_t arrivals(std::uint32_t round) const noexcept;
  Rank peer(Rank number, const Hop& hop) const noexcept {
    return static_cast<Rank>((number + hop.distance) % ranks);
  }
};

}  // namespace aqueduct::coll
