#pragma once

#include "coll/engine/request.hpp"
#include "coll/schedule/member_blocks.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::coll {

/// What the members of a call combine before it moves bytes.
struct BlockLengths {
  /// Modulo 2^64, the marks of all blocks that are sent, less those of all that are expected: 0 if both ends of each pair
  /// name the same length. Else 0 with a probability of 2^-64.
  std::uint64_t difference = 0;
  std::uint64_t longest = 0;  ///< bytes of the longest block that goes to another member

  friend bool operator==(const BlockLengths&, const BlockLengths&) = default;
};

/// What one end of a pair tells the other one after a difference.
struct PairLengths {
  std::uint64_t sent = 0;      ///< bytes that the teller sends to the other one
  std::uint64_t expected = 0;  ///< bytes that it expects from it
};
/// Of a permute whose members do not know from whom they receive.
inline constexpr std::uint64_t kAnyLength = ~std::uint64_t{0};

/// A collective call whose blocks may differ: what checked_blocks has found, and how far it has come. One serves call after
/// call, so its lists are allocated once. A plan's serves its starts: the next one may begin when the one before is over, though
/// runs of it may still read the lists.
struct BlocksCall {
  /// What the runs of the call are for. `asking`: lengths differ, and the ends of each pair tell each other theirs.
  enum class Stage : std::uint8_t { comparing, asking, moving };

  BlocksCall* next = nullptr;  ///< in the pool
  std::uint32_t uses = 0;      ///< known calls that name it; 0: the caller's, which is about to make it
  Request request;             ///< shape.bytes is 0
  std::vector<BlockAt> sends;  ///< [receiver], in bytes of `in`; of a permute: the only one. None to itself
  std::vector<BlockAt> receives;   ///< [sender], in bytes of `out`; likewise
  BlockAt own_from;                ///< the block that this member has for itself
  BlockAt own_to;                  ///< as long
  Rank to = kNoRank;               ///< of a permute
  Rank from = kNoRank;             ///< likewise; kNoRank: not known
  std::vector<PairLengths> told;   ///< [member]
  std::vector<PairLengths> heard;  ///< likewise

  Stage stage = Stage::comparing;
  BlockLengths mine;
  BlockLengths all;
};

/// Copies the block that this member has for itself.
void copy_own_block(const BlocksCall& call) noexcept;

/// Stands for a block in BlockLengths::difference. Different blocks have different marks with high probability.
constexpr std::uint64_t mark_of_block(Rank from, Rank to, std::uint64_t bytes) noexcept {
  const auto mixed = [](std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
    x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
    return x ^ (x >> 31);
  };
  // splitmix64 (Steele, Lea and Flood, 2014), once for each word.
  return mixed(mixed(bytes + 0x9e37'79b9'7f4a'7c15) + (std::uint64_t{from} << 32 | to));
}

}  // namespace aqueduct::coll
