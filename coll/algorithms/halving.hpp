#pragma once

#include "coll/algorithms/steps.hpp"

#include <cstdint>

namespace aqueduct::coll {

// A reduce-scatter by recursive halving, for a power of two. In round k a member and the one whose number differs in bit k
// halve the range that they share: the one with bit 0 keeps the lower half. Partial sums cover 2^k consecutive members and are
// combined in order, so the operator need not be commutative. Round k has counter k.
//
// Source: Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004.

struct HalvedVector {
  Parts parts;
  std::uint32_t rounds;

  explicit HalvedVector(const Shape& shape) noexcept : parts(shape), rounds(rounds_of(shape.ranks, 2)) {}

  /// The first part of a member's range after `halvings` rounds; it has P / 2^halvings parts.
  std::uint64_t first(Rank position, std::uint32_t halvings) const noexcept {
    std::uint64_t part = 0;
    for (std::uint32_t k = 0; k < halvings; ++k) part += (position >> k & 1) * (parts.ranks >> (k + 1));
    return part;
  }
  std::uint64_t offset(Rank position, std::uint32_t halvings) const noexcept {
    return parts.begin(first(position, halvings));
  }
  std::uint64_t bytes(Rank position, std::uint32_t halvings) const noexcept {
    return parts.size(first(position, halvings), parts.ranks >> halvings);
  }
  // Scratch: the vector of partial sums and results; then the arrivals of each round of the reduce-scatter.
  Place sums(std::uint64_t offset) const noexcept { return at(Space::scratch, offset); }
  Place slot(std::uint32_t k) const noexcept {
    return at(Space::scratch, parts.bytes + (parts.ranks - (parts.ranks >> k)) * parts.longest());
  }

  /// The index-th of 2 · rounds steps of the reduce-scatter: of each round a put and a reduction. `peer`: who is at the other
  /// end of the round, by its number in the team.
  Step halve(Rank position, Rank peer, std::uint32_t index) const noexcept {
    const std::uint32_t k = index / 2;
    const Rank other = position ^ (Rank{1} << k);
    const Rank keeper = index % 2 == 0 ? other : position;
    const std::uint64_t at_keeper = offset(keeper, k + 1);
    const std::uint64_t size = bytes(keeper, k + 1);
    const Place mine = k == 0 ? at(Space::in, at_keeper) : sums(at_keeper);
    if (index % 2 == 0) return put_to(peer, mine, slot(k), size, static_cast<Counter>(k));
    const bool first = position < other;
    return after(reduction(first ? mine : slot(k), first ? slot(k) : mine, sums(at_keeper), size),
                 static_cast<Counter>(k), 1);
  }
};

inline const char* halving_refusal(const Shape& shape) noexcept {
  if ((shape.ranks & (shape.ranks - 1)) != 0) return "it needs a power of two members";
  if (shape.order == Order::exact && shape.ranks > 2) return "it does not combine one vector after the other";
  return nullptr;
}

}  // namespace aqueduct::coll
