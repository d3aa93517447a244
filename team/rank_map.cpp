#include "team/rank_map.hpp"

#include <algorithm>
#include <numeric>

namespace aqueduct::team {

RankMap RankMap::of(std::vector<Rank> ranks) {
  const auto size = static_cast<Rank>(ranks.size());
  const Rank first = ranks.empty() ? 0 : ranks.front();
  const std::int64_t step = size < 2 ? 1 : std::int64_t{ranks[1]} - first;
  RankMap map(size, first, step);
  bool equal = step != 0;
  for (Rank i = 0; equal && i < size; ++i)
    equal = first + step * std::int64_t{i} == std::int64_t{ranks[i]};  // may pass 2^32
  if (equal) return map;
  map.by_rank_.resize(size);
  std::iota(map.by_rank_.begin(), map.by_rank_.end(), Rank{0});
  std::sort(map.by_rank_.begin(), map.by_rank_.end(), [&](Rank a, Rank b) { return ranks[a] < ranks[b]; });
  map.listed_ = std::move(ranks);
  return map;
}

RankMap RankMap::strided(Rank first, std::int64_t step, Rank ranks) noexcept {
  // As `of` does it for fewer than two ranks, so that equal lists are equal maps.
  if (ranks == 0) return RankMap(0, 0, 1);
  return RankMap(ranks, first, ranks == 1 ? 1 : step);
}

Rank RankMap::find(Rank rank) const noexcept {
  if (listed_.empty()) {
    const std::int64_t distance = std::int64_t{rank} - first_;
    if (distance % step_ != 0) return kNoRank;
    const std::int64_t index = distance / step_;
    return index >= 0 && index < size_ ? static_cast<Rank>(index) : kNoRank;
  }
  const auto at = std::lower_bound(by_rank_.begin(), by_rank_.end(), rank,
                                   [&](Rank index, Rank wanted) { return listed_[index] < wanted; });
  return at != by_rank_.end() && listed_[*at] == rank ? *at : kNoRank;
}

Likeness compare(const RankMap& a, const RankMap& b) noexcept {
  if (a == b) return Likeness::same;
  if (a.size() != b.size()) return Likeness::different;
  for (Rank i = 0; i < a.size(); ++i) {
    if (b.find(a[i]) == kNoRank) return Likeness::different;
  }
  return Likeness::reordered;
}

Status translate(const RankMap& from, std::span<const Rank> indices, const RankMap& to,
                 std::span<Rank> into) noexcept {
  if (indices.size() != into.size()) return ErrorCode::invalid_argument;
  for (const Rank index : indices) {
    if (index >= from.size() && index != kNoRank) return ErrorCode::out_of_range;
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Rank index = indices[i];
    into[i] = index != kNoRank ? to.find(from[index]) : kNoRank;
  }
  return {};
}

}  // namespace aqueduct::team
