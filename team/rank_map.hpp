#pragma once

#include <aqueduct/rank_list.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::team {

/// The ranks of a team, in the team's order. If they are at equal
/// distances, such as the ranks of the whole job, the map stores no list.
class RankMap {
 public:
  /// Ranks 0 to `ranks` - 1.
  static RankMap world(Rank ranks) noexcept { return RankMap(ranks, 0, 1); }
  /// The given ranks. Requires: no rank occurs twice.
  static RankMap of(std::vector<Rank> ranks);
  /// `ranks` ranks from `first`, `step` apart. Requires: the step is not 0, and the last one is a rank.
  static RankMap strided(Rank first, std::int64_t step, Rank ranks) noexcept;

  Rank size() const noexcept { return size_; }
  /// Requires: index < size().
  Rank operator[](Rank index) const noexcept {
    if (!listed_.empty()) [[unlikely]]
      return listed_[index];
    return static_cast<Rank>(first_ + step_ * std::int64_t{index});
  }
  /// The index of a rank; kNoRank if it is not a member. Cost: constant, or with a list, logarithmic in its length.
  Rank find(Rank rank) const noexcept;
  /// Whether each index i is rank i.
  bool is_identity() const noexcept { return listed_.empty() && first_ == 0 && step_ == 1; }
  bool is_listed() const noexcept { return !listed_.empty(); }

  /// The same ranks in the same order: equal members, because there is one form for each list of ranks.
  friend bool operator==(const RankMap&, const RankMap&) noexcept = default;

 private:
  RankMap(Rank size, Rank first, std::int64_t step) noexcept : size_(size), first_(first), step_(step) {}

  Rank size_;
  std::int64_t first_;
  std::int64_t step_;
  std::vector<Rank> listed_;   ///< [index]; empty: the ranks are at equal distances
  std::vector<Rank> by_rank_;  ///< the indices in the order of rising ranks, to search in
};

/// How two maps compare. Cost: constant for equal distances that are the same; otherwise that of a search for each rank.
Likeness compare(const RankMap& a, const RankMap& b) noexcept;
/// RankList::translate, for maps.
Status translate(const RankMap& from, std::span<const Rank> indices, const RankMap& to,
                 std::span<Rank> into) noexcept;

}  // namespace aqueduct::team
