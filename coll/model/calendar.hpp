#pragma once

#include "coll/model/large_pages.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace aqueduct::coll {

/// Events by time, in *windows* of equal length: a bucket queue. Within a window they stay in the order of insertion.
///
/// The windows of one epoch have a bucket each; later epochs have one list each, which is dealt out when the epoch begins. So
/// an event moves at most twice, whatever its distance. Event: a type with a member `time`, in picoseconds.
template <class Event>
class Calendar {
 public:
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  /// Windows have 2^shift picoseconds.
  explicit Calendar(unsigned shift) : shift_(shift), buckets_(kWindows) {}

  [[gnu::always_inline]] inline void push(const Event& event) {
    const std::uint64_t window = event.time >> shift_;
    const std::uint64_t epoch = window / kWindows;
    if (size_ == 0) epoch_ = epoch;
    if (epoch < epoch_) put_back(epoch);
    if (epoch == epoch_)
      insert(event, window % kWindows);
    else
      later_[epoch].push_back(event);
    ++size_;
  }

  /// The earliest window that has an event; kNone if there is none.
  std::uint64_t first() {
    if (size_ == 0) return kNone;
    if (here_ == 0) {
      const auto next = later_.begin();
      epoch_ = next->first;
      const LargeVector<Event> events = std::move(next->second);
      later_.erase(next);
      for (const Event& event : events) insert(event, (event.time >> shift_) % kWindows);
    }
    while (buckets_[at_].empty()) ++at_;
    return epoch_ * kWindows + at_;
  }

  /// Takes all events of the window that first() has named. To be given back with `recycle`.
  LargeVector<Event> take() {
    LargeVector<Event> events = std::exchange(buckets_[at_], {});
    here_ -= events.size();
    size_ -= events.size();
    return events;
  }
  /// Keeps the memory of a list of events for another one.
  void recycle(LargeVector<Event> events) {
    events.clear();
    if (spare_.size() < kWindows) spare_.push_back(std::move(events));
  }

  std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::uint64_t kWindows = 4096;

  [[gnu::always_inline]] inline void insert(const Event& event, std::uint64_t slot) {
    LargeVector<Event>& bucket = buckets_[slot];
    if (bucket.capacity() == 0 && !spare_.empty()) {
      bucket.swap(spare_.back());
      spare_.pop_back();
    }
    bucket.push_back(event);
    if (here_ == 0 || slot < at_) at_ = slot;
    ++here_;
  }
  /// Goes back to an earlier epoch, of which another calendar has reminded.
  void put_back(std::uint64_t epoch) {
    LargeVector<Event>& list = later_[epoch_];
    for (LargeVector<Event>& bucket : buckets_) {
      list.insert(list.end(), bucket.begin(), bucket.end());
      bucket.clear();
    }
    if (list.empty()) later_.erase(epoch_);
    epoch_ = epoch;
    here_ = 0;
  }

  unsigned shift_;
  std::vector<LargeVector<Event>> buckets_;
  std::vector<LargeVector<Event>> spare_;
  std::map<std::uint64_t, LargeVector<Event>> later_;
  std::uint64_t epoch_ = 0;
  std::uint64_t at_ = 0;  ///< no earlier bucket of the epoch has an event
  std::size_t here_ = 0;  ///< events of the epoch
  std::size_t size_ = 0;
};

}  // namespace aqueduct::coll
