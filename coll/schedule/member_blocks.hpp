#pragma once

#include <aqueduct/rank.hpp>

#include <algorithm>
#include <cstdint>

namespace aqueduct::coll {

/// A block of a buffer, in bytes.
struct BlockAt {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const BlockAt&, const BlockAt&) = default;
};

/// What one member sends and receives in an operation whose blocks differ, and which part of every block one run moves:
/// the bytes from `begin` on, as many as Shape::bytes says.
///
/// Members have different views. Both ends of a pair give its block the same length: the engine has asked.
struct MemberBlocks {
  const BlockAt* sends = nullptr;     ///< [receiver], in the input; of a permute: the only one
  const BlockAt* receives = nullptr;  ///< [sender], in the output; likewise
  Rank to = kNoRank;                  ///< of a permute: who receives this member's block
  std::uint64_t begin = 0;
  std::uint32_t senders = 0;  ///< other members that send something to this one in this run

  /// The run's part of a block. `bytes`: of a run.
  BlockAt part(const BlockAt& block, std::uint64_t bytes) const noexcept {
    if (block.bytes <= begin) return {block.at, 0};
    return {block.at + begin, std::min(block.bytes - begin, bytes)};
  }
};

/// Null: there is none. Two views are equal, so that shapes are compared by what all members share.
struct BlocksView {
  const MemberBlocks* of = nullptr;

  friend constexpr bool operator==(const BlocksView&, const BlocksView&) noexcept { return true; }
};

}  // namespace aqueduct::coll
