#pragma once

#include <aqueduct/rank.hpp>

#include "topology/caches.hpp"

#include <cstdint>

namespace aqueduct::coll {

/// How large operations cut blocks, in bytes. The same on all members.
struct TileSizes {
  /// What a member combines at once, before it copies the result to the others: the result stays in the first cache.
  std::uint64_t at_once = 8192;
  /// The longest tile, and a piece of a broadcast that members pass on.
  std::uint64_t most = 65536;

  friend bool operator==(const TileSizes&, const TileSizes&) = default;
};

/// By the caches of the host; what is not known of them leaves the usual sizes, which were measured with caches of 48 KiB,
/// 1 MiB and 32 MiB.
///
/// Members work on a tile each at the same time: on a strip. All that is in use of a strip, inputs and outputs of the members
/// that share a last cache and one buffer more, fills half of that cache at the most (requirement S-6). Of its own second cache
/// a member takes a sixteenth for a tile, of the first a quarter for what it combines at once.
TileSizes tile_sizes(const topology::Caches& caches, Rank members) noexcept;

}  // namespace aqueduct::coll
