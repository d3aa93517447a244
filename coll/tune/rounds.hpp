#pragma once

#include <cstddef>

namespace aqueduct::coll {

/// Which of `count` candidates is measured as the i-th of a round. In `count` rounds (odd numbers: twice as many) each follows each
/// other one equally often (Williams 1949). A call takes longer behind one that left caches, sockets and the other members in another
/// state; two series of one candidate would otherwise differ by that, however many rounds there are. Requires: i < count.
constexpr std::size_t in_turn(std::size_t i, std::size_t round, std::size_t count) noexcept {
  if (round / count % 2 != 0) i = count - 1 - i;
  const std::size_t of_first_round = i % 2 == 0 ? i / 2 : count - (i + 1) / 2;
  return (of_first_round + round) % count;
}

}  // namespace aqueduct::coll
