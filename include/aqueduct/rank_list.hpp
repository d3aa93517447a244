#pragma once

#include <aqueduct/rank.hpp>
#include <aqueduct/status.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace aqueduct {

namespace detail {
struct RankListState;
}

/// The numbers first, first + stride, first + 2 * stride, … that do not pass `last`. The stride may be negative.
struct RankRange {
  Rank first = 0;
  Rank last = 0;
  std::int64_t stride = 1;
};

/// How the ranks of two lists, or the members of two teams, compare.
enum class Likeness : std::uint8_t {
  same,       ///< the same ranks in the same order
  reordered,  ///< the same ranks in another order
  different,  ///< a rank of one is not in the other
};

/// Ranks in an order, none of them twice: what a team is made of, as a value. `Team::create` and `Team::split` make a
/// team of a list.
///
/// Nothing here communicates, and a list belongs to no job: whether its ranks exist is checked when a team is made of
/// it. A list does not change. Calls that make another list leave this one as it is. An *index* is a place in the list,
/// from 0.
///
/// Errors:  no_memory from all calls that return a list; the others where they are named. A call that fails has made
///          nothing.
/// Cost:    a list whose ranks are at equal distances, such as all ranks of a job, takes the same few bytes whatever its
///          length; any other list 8 bytes a rank. Copies share them. The calls that make a list take time and, while
///          they run, memory in proportion to the lists that they read and make; sorting adds a factor of log P.
/// Threads: as a number: calls on one list may run at once.
class RankList {
 public:
  /// No rank.
  RankList() noexcept = default;

  /// The given ranks, in this order.
  ///
  /// Errors: invalid_argument, with the rank (it occurs twice); out_of_range (kNoRank or kAnyRank is among them).
  static Result<RankList> of(std::span<const Rank> ranks) noexcept;
  /// The ranks `first`, first + stride, … that do not pass `last`. `range(0, ep.ranks() - 1)` has all ranks of a job.
  ///
  /// Errors: invalid_argument (the stride is 0, or leads away from `last`), out_of_range (kNoRank or kAnyRank would be
  ///         among them).
  /// Cost:   constant.
  static Result<RankList> range(Rank first, Rank last, std::int64_t stride = 1) noexcept;
  /// The ranks of several ranges, one range after the other. Errors: those of `range` and of `of`. Where the ranges have more
  /// numbers than there can be ranks, some rank occurs twice, and the error names none.
  static Result<RankList> of_ranges(std::span<const RankRange> ranges) noexcept;

  /// The number of ranks.
  Rank size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  /// The rank at an index; kNoRank if the index is outside the list.
  Rank rank_of(Rank index) const noexcept;
  /// A rank's index; kNoRank if the rank is not in the list. Cost: constant, or logarithmic in the length of a list whose
  /// ranks are not at equal distances.
  Rank index_of(Rank rank) const noexcept;
  bool contains(Rank rank) const noexcept { return index_of(rank) != kNoRank; }

  /// The ranks of both lists: those of this one, then those of `other` that are not in this one.
  Result<RankList> union_with(const RankList& other) const noexcept;
  /// The ranks that are in both lists, in the order of this one.
  Result<RankList> intersection_with(const RankList& other) const noexcept;
  /// The ranks of this list that are not in `other`, in the order of this one.
  Result<RankList> difference_with(const RankList& other) const noexcept;

  /// The ranks at the given indices, in the order of the indices.
  ///
  /// Errors: out_of_range (an index is outside the list), invalid_argument, with the rank (its index occurs twice).
  Result<RankList> include(std::span<const Rank> indices) const noexcept;
  /// The ranks but those at the given indices. Errors: those of include.
  Result<RankList> exclude(std::span<const Rank> indices) const noexcept;
  /// As above, with ranges of indices, one after the other. Errors: those of include, and of `range` for its stride. Where
  /// the ranges have more numbers than the list has ranks, the error names no rank.
  Result<RankList> include(std::span<const RankRange> indices) const noexcept;
  Result<RankList> exclude(std::span<const RankRange> indices) const noexcept;

  /// Stores in `into[i]` at which index of `other` the rank is that is at index `indices[i]` here; kNoRank if `other`
  /// does not have it. An index of kNoRank gives kNoRank. `into` may be the memory of `indices`.
  ///
  /// Errors: invalid_argument (the lengths differ), out_of_range (an index is outside this list). `into` is unchanged.
  Status translate(std::span<const Rank> indices, const RankList& other, std::span<Rank> into) const noexcept;
  /// By the ranks alone: lists know nothing of jobs.
  Likeness compare(const RankList& other) const noexcept;
  /// The same ranks in the same order.
  friend bool operator==(const RankList& a, const RankList& b) noexcept {
    return a.compare(b) == Likeness::same;
  }

  /// For use by the library only.
  explicit RankList(std::shared_ptr<const detail::RankListState> state) noexcept : state_(std::move(state)) {}
  const detail::RankListState* state() const noexcept { return state_.get(); }

 private:
  std::shared_ptr<const detail::RankListState> state_;  // null: no rank
};

}  // namespace aqueduct
