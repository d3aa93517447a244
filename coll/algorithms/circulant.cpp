#include "coll/algorithms/circulant.hpp"

namespace aqueduct::coll {

std::uint32_t Circulant::base(std::uint64_t position) const noexcept {
  for (std::uint32_t k = rounds + 1; k-- > 0;) {
    if (skip(k) == position) return k;
    if (skip(k) < position) position -= skip(k);
  }
  return rounds;
}

/// The greatest position up to `limit` with this base; 0 if there is none.
std::uint64_t Circulant::greatest_with_base(std::uint64_t limit, std::uint32_t base) const noexcept {
  for (;;) {
    // The way to `limit`, cut before the distances from `base` on: all positions from there to `limit` share it.
    std::uint64_t cut = 0;
    for (std::uint32_t k = rounds; k > base; --k) cut += skip(k) <= limit - cut ? skip(k) : 0;
    if (limit - cut >= skip(base)) return cut + skip(base);
    if (cut == 0) return 0;
    limit = cut - 1;
  }
}

// In round k the block comes from a member that the positions after P + position - skip(k + 1) and up to
// P + position - skip(k) lead to. Of their bases it is the greatest that was not received in an earlier round; if all
// were, that of the position before them. The base `rounds` is that of position 0 and stands for a new block.
std::int64_t Circulant::received(Rank position, std::uint32_t k) const noexcept {
  const std::uint32_t first = base(position);
  std::uint64_t taken = std::uint64_t{1} << first;
  std::uint32_t found = 0;
  for (std::uint32_t round = 0; round <= k; ++round) {
    const std::uint64_t low = ranks + position - skip(round + 1);
    const std::uint64_t high = ranks + position - skip(round);
    found = base(low);
    for (std::uint32_t candidate = rounds + 1; candidate-- > 0;) {
      if ((taken >> candidate & 1) != 0 || greatest_with_base(high, candidate) <= low) continue;
      found = candidate;
      break;
    }
    taken |= std::uint64_t{1} << found;
  }
  return found == rounds ? std::int64_t{first} : std::int64_t{found} - rounds;
}

}  // namespace aqueduct::coll
