#pragma once

#include "coll/schedule/passes.hpp"

#include <cstdint>
#include <span>

namespace aqueduct::coll {

/// The circulant graph whose distances halve, rounded up: in round k a member sends to the member at distance skip(k)
/// behind it. ceil(log2 P) rounds reach everybody, for any number of members. Nothing is stored.
///
/// Source: Träff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, arXiv 2410.14234, 2024.
struct Circulant {
  std::uint64_t ranks;
  std::uint32_t rounds;

  explicit Circulant(Rank members) noexcept : ranks(members), rounds(rounds_of(members, 2)) {}

  /// ceil(P / 2^(rounds - k)): 1 for round 0, and `ranks` for k = rounds.
  std::uint64_t skip(std::uint32_t k) const noexcept {
    const std::uint32_t halvings = rounds - k;
    return (ranks + (std::uint64_t{1} << halvings) - 1) >> halvings;
  }
  Rank behind(Rank position, std::uint32_t k) const noexcept { return around(position + skip(k)); }
  Rank before(Rank position, std::uint32_t k) const noexcept { return around(position + ranks - skip(k)); }

  /// In a broadcast of many blocks from position 0: the block that `position`, which is not 0, receives in round k of the
  /// phase that begins with block 0. In the next phase, `rounds` rounds later, it is the block with a number higher by
  /// `rounds`. A negative number is a block of the phase before.
  ///
  /// In `rounds` successive rounds a member receives as many different blocks, and it only sends what it has received
  /// before (or, position 0, block k in round k). Time: O(rounds²).
  ///
  /// Source: Träff, Round-optimal n-Block Broadcast Schedules in Logarithmic Time, arXiv 2312.11236, 2023. The numbers
  ///         are chosen as the greatest ones of a range, without the search tree of that paper.
  std::int64_t received(Rank position, std::uint32_t k) const noexcept;
  /// The same for all rounds, in the time of one. Requires: blocks.size() == rounds.
  void received(Rank position, std::span<std::int8_t> blocks) const noexcept;

  /// The index of the last distance on the way from 0 to `position` along falling distances: the first block that the
  /// member receives. `rounds` for 0 and for `ranks`.
  std::uint32_t base(std::uint64_t position) const noexcept;

 private:
  /// Requires: sum < 2 · ranks.
  Rank around(std::uint64_t sum) const noexcept { return static_cast<Rank>(sum < ranks ? sum : sum - ranks); }
  bool has_base_between(std::uint64_t low, std::uint64_t high, std::uint64_t cut,
                        std::uint32_t base) const noexcept;
  template <class Each>
  void each_received(Rank position, std::uint32_t last, const Each& each) const noexcept;
};

}  // namespace aqueduct::coll
