#pragma once

#include "coll/algorithms/steps.hpp"
#include "coll/schedule/passes.hpp"

#include <algorithm>
#include <cstdint>

namespace aqueduct::coll {

// P - 1 rounds between all members: in round s a member sends to the member s behind it, and receives from the member s
// before it; with a power of two, both are the member whose number differs by the bits of s. The rounds go by windows: the
// sends of a window begin when all that this member receives in the window before has arrived. So a member is written to by
// few others at a time. A window has its own counter.

/// Chosen: counters are leased from a few hundred.
constexpr std::uint32_t kMostWindows = 230;

struct PairwiseRounds {
  Rank ranks;
  Rank position;
  std::uint32_t width;  ///< rounds of a window; the last one may have fewer

  PairwiseRounds(const Shape& shape, Rank at) noexcept
      : ranks(shape.ranks), position(at), width(shape.parameters[0]) {}

  std::uint32_t rounds() const noexcept { return ranks - 1; }
  std::uint32_t windows() const noexcept { return (rounds() + width - 1) / width; }
  /// Rounds of the window that has this round.
  std::uint32_t width_at(std::uint32_t window) const noexcept {
    return std::min(width, rounds() - window * width);
  }
  // Rounds count from 1.
  Rank target(std::uint32_t round) const noexcept {
    return is_power() ? position ^ round : absolute(round, position, ranks);
  }
  Rank source(std::uint32_t round) const noexcept {
    return is_power() ? position ^ round : absolute(ranks - round, position, ranks);
  }
  bool is_power() const noexcept { return (ranks & (ranks - 1)) == 0; }
};

/// A lane of it: of each window the sends, then as many arrivals.
struct PairwiseTurn {
  std::uint32_t window;
  std::uint32_t round;
  bool sends;
  bool first_arrival;  ///< of its window: it waits for all of them

  PairwiseTurn(const PairwiseRounds& all, std::uint32_t index) noexcept : window(index / (2 * all.width)) {
    const std::uint32_t width = all.width_at(window);
    const std::uint32_t turn = index % (2 * all.width);
    sends = turn < width;
    first_arrival = turn == width;
    round = window * all.width + turn % width + 1;
  }
};

/// A slot for each round, a counter for each window.
inline Needs pairwise_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = (shape.ranks - 1) * shape.bytes, .counters = PairwiseRounds(shape, 0).windows()};
}

inline Cost pairwise_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const std::uint64_t edges = std::uint64_t{shape.ranks} * (shape.ranks - 1);
  return {.messages = edges, .bytes = edges * shape.bytes, .depth = PairwiseRounds(shape, 0).windows()};
}

inline const char* pairwise_refusal(const Shape& shape) noexcept {
  return shape.ranks > 1 && PairwiseRounds(shape, 0).windows() > kMostWindows
             ? "it needs a counter for each window of members: too many"
             : nullptr;
}

}  // namespace aqueduct::coll
