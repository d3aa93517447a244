#include <aqueduct/rank_list.hpp>

#include "team/rank_list_state.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace aqueduct {

using detail::RankListState;
using team::RankMap;

namespace {

/// How many numbers a range has; 0 if its stride is 0 or leads away from its last number.
std::uint64_t length_of(const RankRange& range) noexcept {
  const std::int64_t distance = std::int64_t{range.last} - range.first;
  if (range.stride == 0 || (distance != 0 && (distance < 0) != (range.stride < 0))) return 0;
  return static_cast<std::uint64_t>(distance / range.stride) + 1;
}

/// The number at a place of a range. Requires: place < length_of(range).
Rank number_at(const RankRange& range, std::uint64_t place) noexcept {
  return static_cast<Rank>(range.first + range.stride * static_cast<std::int64_t>(place));
}

/// What is wrong with a range whose numbers must be below `bound`.
Status problem_of(const RankRange& range, Rank bound) noexcept {
  const std::uint64_t length = length_of(range);
  if (length == 0) return ErrorCode::invalid_argument;
  // The other numbers are between these two.
  if (range.first >= bound || number_at(range, length - 1) >= bound) return ErrorCode::out_of_range;
  return {};
}

/// The numbers of the ranges, which must be below `bound`, one range after the other. May throw std::bad_alloc.
Result<std::vector<Rank>> numbers_of(std::span<const RankRange> ranges, Rank bound) {
  std::uint64_t all = 0;
  for (const RankRange& range : ranges) {
    if (const Status problem = problem_of(range, bound); !problem) return problem;
    all += length_of(range);
    // There are fewer different numbers, so one occurs twice. A few ranges must not cost all memory.
    if (all > bound) return ErrorCode::invalid_argument;
  }
  std::vector<Rank> numbers;
  numbers.reserve(all);
  for (const RankRange& range : ranges) {
    for (std::uint64_t i = 0; i < length_of(range); ++i) numbers.push_back(number_at(range, i));
  }
  return numbers;
}

/// A list of these ranks, unless one occurs twice. May throw std::bad_alloc.
Result<RankList> list_without_twins(std::vector<Rank> ranks) {
  std::vector<Rank> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) return {ErrorCode::invalid_argument, *twice};
  return team::list_of(RankMap::of(std::move(ranks)));
}

/// Calls `body` with the maps of two lists.
template <class F>
auto with_maps(const RankList& a, const RankList& b, F body) noexcept {
  const RankMap none = RankMap::world(0);
  return body(a.state() != nullptr ? a.state()->ranks : none, b.state() != nullptr ? b.state()->ranks : none);
}

}  // namespace

namespace team {

RankList list_of(RankMap ranks) {
  if (ranks.size() == 0) return RankList();
  return RankList(std::make_shared<const RankListState>(RankListState{std::move(ranks)}));
}

std::vector<Rank> ranks_in(const RankList& list) {
  std::vector<Rank> ranks(list.size());
  for (Rank i = 0; i < list.size(); ++i) ranks[i] = list.rank_of(i);
  return ranks;
}

}  // namespace team

Result<RankList> RankList::of(std::span<const Rank> ranks) noexcept try {
  for (const Rank rank : ranks) {
    if (rank >= kAnyRank) return {ErrorCode::out_of_range, rank};
  }
  return list_without_twins({ranks.begin(), ranks.end()});
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Result<RankList> RankList::range(Rank first, Rank last, std::int64_t stride) noexcept try {
  const RankRange wanted{first, last, stride};
  if (const Status problem = problem_of(wanted, kAnyRank); !problem) return problem;
  return team::list_of(RankMap::strided(first, stride, static_cast<Rank>(length_of(wanted))));
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Result<RankList> RankList::of_ranges(std::span<const RankRange> ranges) noexcept try {
  if (ranges.size() == 1) return range(ranges[0].first, ranges[0].last, ranges[0].stride);
  auto ranks = numbers_of(ranges, kAnyRank);
  if (!ranks) return ranks.status();
  return list_without_twins(std::move(*ranks));
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Rank RankList::size() const noexcept { return state_ != nullptr ? state_->ranks.size() : 0; }
Rank RankList::rank_of(Rank index) const noexcept { return index < size() ? state_->ranks[index] : kNoRank; }
Rank RankList::index_of(Rank rank) const noexcept {
  return state_ != nullptr ? state_->ranks.find(rank) : kNoRank;
}

Result<RankList> RankList::union_with(const RankList& other) const noexcept try {
  std::vector<Rank> further;
  for (Rank i = 0; i < other.size(); ++i) {
    if (const Rank rank = other.rank_of(i); !contains(rank)) further.push_back(rank);
  }
  if (further.empty()) return *this;
  std::vector<Rank> all = team::ranks_in(*this);
  all.insert(all.end(), further.begin(), further.end());
  return team::list_of(RankMap::of(std::move(all)));
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Result<RankList> RankList::intersection_with(const RankList& other) const noexcept try {
  // The shorter list is searched for in the longer one, which may be a range of very many ranks.
  const bool mine = size() <= other.size();
  const RankList& shorter = mine ? *this : other;
  std::vector<Rank> common;  // as indices in this list
  for (Rank i = 0; i < shorter.size(); ++i) {
    const Rank rank = shorter.rank_of(i);
    const Rank index = mine ? (other.contains(rank) ? i : kNoRank) : index_of(rank);
    if (index != kNoRank) common.push_back(index);
  }
  std::sort(common.begin(), common.end());
  for (Rank& index : common) index = rank_of(index);
  return team::list_of(RankMap::of(std::move(common)));
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Result<RankList> RankList::difference_with(const RankList& other) const noexcept try {
  // Counted first, because either list may be a range of very many ranks.
  Rank kept = 0;
  for (Rank i = 0; i < size(); ++i) kept += other.contains(rank_of(i)) ? 0 : 1;
  if (kept == size()) return *this;
  std::vector<Rank> left;
  left.reserve(kept);
  for (Rank i = 0; i < size(); ++i) {
    if (const Rank rank = rank_of(i); !other.contains(rank)) left.push_back(rank);
  }
  return team::list_of(RankMap::of(std::move(left)));
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Result<RankList> RankList::include(std::span<const Rank> indices) const noexcept try {
  std::vector<Rank> chosen;
  for (const Rank index : indices) {
    if (index >= size()) return ErrorCode::out_of_range;
    chosen.push_back(rank_of(index));
  }
  return list_without_twins(std::move(chosen));
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Result<RankList> RankList::exclude(std::span<const Rank> indices) const noexcept {
  const auto excluded = include(indices);
  if (!excluded) return excluded.status();
  return difference_with(*excluded);
}

Result<RankList> RankList::include(std::span<const RankRange> indices) const noexcept try {
  const auto numbers = numbers_of(indices, size());
  if (!numbers) return numbers.status();
  return include(std::span<const Rank>(*numbers));
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

Result<RankList> RankList::exclude(std::span<const RankRange> indices) const noexcept {
  const auto excluded = include(indices);
  if (!excluded) return excluded.status();
  return difference_with(*excluded);
}

Status RankList::translate(std::span<const Rank> indices, const RankList& other,
                           std::span<Rank> into) const noexcept {
  return with_maps(*this, other, [&](const RankMap& from, const RankMap& to) {
    return team::translate(from, indices, to, into);
  });
}

Likeness RankList::compare(const RankList& other) const noexcept {
  return with_maps(*this, other, [](const RankMap& a, const RankMap& b) { return team::compare(a, b); });
}

}  // namespace aqueduct
