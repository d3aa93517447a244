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
  for (Rank i = 0; equal && i < size; ++i) equal = map[i] == ranks[i];
  if (equal) return map;
  map.by_rank_.resize(size);
  std::iota(map.by_rank_.begin(), map.by_rank_.end(), Rank{0});
  std::sort(map.by_rank_.begin(), map.by_rank_.end(), [&](Rank a, Rank b) { return ranks[a] < ranks[b]; });
  map.listed_ = std::move(ranks);
  return map;
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

}  // namespace aqueduct::team
