#include "coll/algorithms/circulant.hpp"

namespace aqueduct::coll {

std::uint32_t Circulant::base(std::uint64_t position) const noexcept {
  for (std::uint32_t k = rounds + 1; k-- > 0;) {
    if (skip(k) == position) return k;
    if (skip(k) < position) position -= skip(k);
  }
  return rounds;
}

/// Whether a position after `low` and up to `high` has this base. `cut`: the way to `high`, cut before the distances from
/// `base` on; all positions from there to `high` share it.
bool Circulant::has_base_between(std::uint64_t low, std::uint64_t high, std::uint64_t cut,
                                 std::uint32_t base) const noexcept {
  for (;;) {
    if (high - cut >= skip(base)) return cut + skip(base) > low;
    if (cut <= low + 1) return false;  // those before `cut` are not after `low`
    high = cut - 1;
    cut = 0;
    for (std::uint32_t k = rounds; k > base; --k) cut += skip(k) <= high - cut ? skip(k) : 0;
  }
}

// In round k the block comes from a member that the positions after P + position - skip(k + 1) and up to
// P + position - skip(k) lead to. Of their bases it is the greatest that was not received in an earlier round; if all
// were, that of the position before them. The base `rounds` is that of position 0 and stands for a new block.
template <class Each>
void Circulant::each_received(Rank position, std::uint32_t last, const Each& each) const noexcept {
  const std::uint32_t first = base(position);
  std::uint64_t taken = std::uint64_t{1} << first;
  for (std::uint32_t round = 0; round <= last; ++round) {
    const std::uint64_t low = ranks + position - skip(round + 1);
    const std::uint64_t high = ranks + position - skip(round);
    std::uint64_t cut = 0;
    std::uint32_t candidate = rounds + 1;
    while (candidate-- > 0) {
      if ((taken >> candidate & 1) == 0 && has_base_between(low, high, cut, candidate)) break;
      cut += skip(candidate) <= high - cut ? skip(candidate) : 0;
    }
    const std::uint32_t found = candidate <= rounds ? candidate : base(low);
    taken |= std::uint64_t{1} << found;
    each(round, found == rounds ? std::int64_t{first} : std::int64_t{found} - rounds);
  }
}

std::int64_t Circulant::received(Rank position, std::uint32_t k) const noexcept {
  std::int64_t block = 0;
  each_received(position, k, [&](std::uint32_t, std::int64_t received) { block = received; });
  return block;
}

void Circulant::received(Rank position, std::span<std::int8_t> blocks) const noexcept {
  if (rounds == 0) return;
  each_received(position, rounds - 1, [&](std::uint32_t round, std::int64_t received) {
    blocks[round] = static_cast<std::int8_t>(received);  // a round or its negative: 32 at most
  });
}

}  // namespace aqueduct::coll
