#include "coll/schedule/dissemination.hpp"

#include <algorithm>

namespace aqueduct::coll {

namespace {

/// The signals in the round of that width, a power of the radix: distances of `ranks` or more would reach the sender again.
std::uint32_t hops_in(const Dissemination& all, std::uint64_t width) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(all.radix - 1, (all.ranks - 1) / width));
}

}  // namespace

Dissemination::Hop Dissemination::hop(std::uint32_t index) const noexcept {
  Hop hop;
  std::uint64_t width = 1;
  for (std::uint32_t in_round = hops_in(*this, 1); index >= in_round; in_round = hops_in(*this, width)) {
    index -= in_round;
    width *= radix;
    ++hop.round;
  }
  hop.number = index;
  hop.distance = (index + 1) * width;
  return hop;
}

std::uint32_t Dissemination::hops() const noexcept {
  std::uint32_t all = 0;
  for (std::uint64_t width = 1; width < ranks; width *= radix) all += hops_in(*this, width);
  return all;
}

std::uint32_t Dissemination::rounds() const noexcept {
  std::uint32_t rounds = 0;
  for (std::uint64_t width = 1; width < ranks; width *= radix) ++rounds;
  return rounds;
}

std::uint32_t Dissemination::arrivals(std::uint32_t round) const noexcept {
  std::uint64_t width = 1;
  while (round-- > 0) width *= radix;
  return hops_in(*this, width);
}

}  // namespace aqueduct::coll
