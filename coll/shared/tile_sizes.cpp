#include "coll/shared/tile_sizes.hpp"

#include <algorithm>
#include <bit>

namespace aqueduct::coll {

namespace {

// Chosen: shorter ones cost more waits and calls than they save, longer ones leave members without work at the end of a block.
constexpr std::uint64_t kLeastAtOnce = 4096;
constexpr std::uint64_t kMostAtOnce = 32768;
constexpr std::uint64_t kShortestTile = 4096;
constexpr std::uint64_t kLongestTile = std::uint64_t{1} << 20;

}  // namespace

TileSizes tile_sizes(const topology::Caches& caches, Rank members) noexcept {
  TileSizes out;
  if (caches.first != 0)
    out.at_once = std::clamp(std::bit_floor(caches.first / 4), kLeastAtOnce, kMostAtOnce);
  if (caches.second != 0)
    out.most = std::clamp(std::bit_floor(caches.second / 16), kShortestTile, kLongestTile);
  if (caches.last == 0) return out;
  const std::uint64_t sharing = std::clamp<std::uint64_t>(caches.sharing, 1, std::max<Rank>(members, 1));
  const std::uint64_t strip = caches.last / 2 / (2 * sharing + 1);
  out.most = std::min(out.most, std::max(std::bit_floor(strip / sharing), kShortestTile));
  return out;
}

}  // namespace aqueduct::coll
