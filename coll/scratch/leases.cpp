#include "coll/scratch/leases.hpp"

#include <algorithm>

namespace aqueduct::coll {

std::optional<std::uint64_t> Ranges::take(std::uint64_t count, std::uint64_t epoch) noexcept {
  const auto is_free = [&](const Range& range) { return range.free_from <= epoch; };
  count_ = static_cast<std::size_t>(std::remove_if(taken_.begin(), taken_.begin() + count_, is_free) -
                                    taken_.begin());
  if (count_ == kMost) return std::nullopt;
  std::uint64_t begin = 0;
  std::size_t place = 0;
  while (place < count_ && taken_[place].begin - begin < count) begin = taken_[place++].end;
  if (size_ - begin < count) return std::nullopt;
  std::move_backward(taken_.begin() + place, taken_.begin() + count_, taken_.begin() + count_ + 1);
  taken_[place] = {.begin = begin, .end = begin + count};
  ++count_;
  return begin;
}

void Ranges::give_back(std::uint64_t begin, std::uint64_t free_from) noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    // An empty range begins where its successor does.
    if (taken_[i].begin == begin && taken_[i].free_from == kInUse) {
      taken_[i].free_from = free_from;
      return;
    }
  }
}

std::optional<std::uint32_t> Leases::take(const Needs& needs, std::uint32_t slots,
                                          std::uint64_t epoch) noexcept {
  const auto free = std::find_if(leases_.begin(), leases_.end(),
                                 [&](const Lease& lease) { return lease.free_from <= epoch; });
  if (free == leases_.end()) return std::nullopt;
  const std::uint64_t bytes = whole_lines(needs.scratch);
  if (bytes > layout_.sizes().leased_bytes || needs.counters > layout_.sizes().leased_counters)
    return std::nullopt;
  const auto first_byte = bytes_.take(bytes * slots, epoch);
  if (!first_byte) return std::nullopt;
  const auto first_counter = counters_.take(std::uint64_t{needs.counters} * slots, epoch);
  if (!first_counter) {
    bytes_.give_back(*first_byte, epoch);
    return std::nullopt;
  }
  *free = {.offset = layout_.leased_at() + *first_byte,
           .bytes = bytes,
           .first_counter = layout_.leased_counter() + static_cast<std::uint32_t>(*first_counter),
           .counters = needs.counters,
           .free_from = kInUse};
  return static_cast<std::uint32_t>(free - leases_.begin());
}

void Leases::end(std::uint32_t lease, std::uint64_t epoch) noexcept {
  Lease& ended = leases_[lease];
  const std::uint64_t free_from = epoch + layout_.sizes().banks;
  bytes_.give_back(ended.offset - layout_.leased_at(), free_from);
  counters_.give_back(ended.first_counter - layout_.leased_counter(), free_from);
  ended.free_from = free_from;
}

}  // namespace aqueduct::coll
