#include "coll/scratch/hidden_memory.hpp"

#include <algorithm>
#include <atomic>
#include <new>

namespace aqueduct::coll {

std::optional<std::uint64_t> UsedRanges::take(std::uint64_t count) noexcept try {
  std::uint64_t begin = 0;
  auto next = ranges_.begin();
  while (next != ranges_.end() && next->begin - begin < count) begin = next++->end;
  if (size_ - begin < count) return std::nullopt;
  ranges_.insert(next, {begin, begin + count});
  free_ -= count;
  return begin;
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

void UsedRanges::give_back(std::uint64_t begin) noexcept {
  const auto at =
      std::lower_bound(ranges_.begin(), ranges_.end(), begin,
                       [](const Range& range, std::uint64_t number) { return range.begin < number; });
  if (at == ranges_.end() || at->begin != begin) return;
  free_ += at->end - at->begin;
  ranges_.erase(at);
}

std::uint64_t UsedRanges::longest() const noexcept {
  std::uint64_t most = 0;
  std::uint64_t begin = 0;
  for (const Range& range : ranges_) {
    most = std::max(most, range.begin - begin);
    begin = range.end;
  }
  return std::max(most, size_ - begin);
}

std::optional<HiddenMemory::Place> HiddenMemory::take(std::uint64_t bytes, std::uint64_t counters) noexcept {
  if (bytes > bytes_.free()) return std::nullopt;  // before it is rounded up, which could overflow
  const std::uint64_t whole = (bytes + kLine - 1) / kLine * kLine;
  const auto offset = whole != 0 ? bytes_.take(whole) : 0;
  if (!offset) return std::nullopt;
  const auto first = counters_.take(counters);
  if (!first) {
    if (whole != 0) bytes_.give_back(*offset);
    return std::nullopt;
  }
  const Place place{*offset, whole, *first, counters};
  high_water_ = std::max(high_water_, size_ - bytes_.free());
  // Atomic, since peers have raised these words in this way. The exchange in which the place is offered publishes the
  // zeros to them.
  for (std::uint64_t& word : counters_of(place)) std::atomic_ref(word).store(0, std::memory_order_relaxed);
  return place;
}

void HiddenMemory::give_back(const Place& place) noexcept {
  if (place.bytes != 0) bytes_.give_back(place.offset);
  counters_.give_back(place.first_counter);
}

}  // namespace aqueduct::coll
