#include "coll/schedule/dissemination.hpp"

#include <algorithm>
#include <bit>

namespace aqueduct::coll {

namespace {

/// The radix to the power of `round`.
std::uint64_t width_of(const Dissemination& all, std::uint32_t round) noexcept {
  if (all.radix == 2) return std::uint64_t{1} << round;
  std::uint64_t width = 1;
  for (; round > 0; --round) width *= all.radix;
  return width;
}

}  // namespace

// All rounds but the last have radix - 1 hops: the width of the next one is less than `ranks`.
Dissemination::Hop Dissemination::hop(std::uint32_t index) const noexcept {
  const std::uint32_t in_round = radix - 1;
  const std::uint32_t round = in_round == 1 ? index : index / in_round;
  const std::uint32_t number = index - round * in_round;
  return {round, number, (number + 1) * width_of(*this, round)};
}

std::uint32_t Dissemination::hops() const noexcept {
  const std::uint32_t count = rounds();
  return count == 0 ? 0 : (count - 1) * (radix - 1) + arrivals(count - 1);
}

std::uint32_t Dissemination::rounds() const noexcept {
  if (radix == 2) return static_cast<std::uint32_t>(std::bit_width(ranks - 1));
  std::uint32_t rounds = 0;
  for (std::uint64_t width = 1; width < ranks; width *= radix) ++rounds;
  return rounds;
}

// Distances of `ranks` or more would reach the sender again.
std::uint32_t Dissemination::arrivals(std::uint32_t round) const noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(radix - 1, (ranks - 1) / width_of(*this, round)));
}

}  // namespace aqueduct::coll
