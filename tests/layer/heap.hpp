#pragma once

#include <aqueduct/segment.hpp>

#include "tests/layer/report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace aqueduct::layer {

/// An array at the same offset of every rank's heap.
template <class T>
class Symmetric {
 public:
  Symmetric(GlobalPtr<T> at, T* mine, std::size_t count) : at_(at), mine_(mine), count_(count) {}

  GlobalPtr<T> on(Rank rank, std::size_t index = 0) const {
    return at_.on(rank) + static_cast<std::int64_t>(index);
  }
  T& operator[](std::size_t index) const { return mine_[index]; }
  std::span<T> mine() const { return {mine_, count_}; }

 private:
  GlobalPtr<T> at_;
  T* mine_;
  std::size_t count_;
};

/// Symmetric memory: one segment. All ranks allocate the same in the same order, so offsets are equal, and none are sent.
class Heap {
 public:
  Heap(Endpoint& ep, const Report& report, std::size_t bytes)
      : report_(report), segment_(make(ep, report, bytes)), me_(ep.rank()) {}

  /// Zeroed memory, at a multiple of 64 bytes.
  template <class T>
  Symmetric<T> allocate(std::size_t count = 1) {
    const std::size_t offset = used_;
    used_ += (count * sizeof(T) + 63) / 64 * 64;
    if (used_ > segment_.mine().size()) report_.wrong("the heap is too small");
    return {segment_.at<std::byte>(me_, offset).template as<T>(),
            reinterpret_cast<T*>(segment_.mine().data() + offset), count};
  }
  /// Frees everything. Requires: a barrier before and after.
  void clear() {
    std::ranges::fill(segment_.mine().first(used_), std::byte{});
    used_ = 0;
  }
  const Segment& segment() const { return segment_; }

 private:
  // In two halves, as a layer does whose callers see the address before the collective call.
  static Segment make(Endpoint& ep, const Report& report, std::size_t bytes) {
    auto memory = Segment::allocate(ep, bytes);
    report.need(memory.status(), "allocate the heap");
    const std::byte* const first = memory->bytes().data();
    Segment segment = report.need(Segment::publish(ep.world(), std::move(memory)), "publish the heap");
    report.holds(segment.mine().data() == first, "the heap keeps its address when it is published");
    return segment;
  }

  const Report& report_;
  Segment segment_;
  Rank me_;
  std::size_t used_ = 0;
};

}  // namespace aqueduct::layer
