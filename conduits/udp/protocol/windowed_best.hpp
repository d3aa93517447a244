#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace aqueduct::conduits::udp {

/// The best value in a sliding window, in constant space and time. The window is divided into kParts parts. Each
/// remembers its best value, and the oldest part is dropped as a whole, so best() covers between (kParts - 1) /
/// kParts of the window and all of it. The unit of time is the caller's: nanoseconds, rounds. Time advances only with
/// `add`, so nothing expires without new values.
template <typename Value, typename Better, std::size_t kParts = 5>
class WindowedBest {
 public:
  /// `worst`: best() before anything was added; no value is worse.
  WindowedBest(std::int64_t window, Value worst) noexcept
      : part_(window / static_cast<std::int64_t>(kParts) > 0 ? window / static_cast<std::int64_t>(kParts)
                                                             : 1),
        worst_(worst),
        best_(worst) {
    bests_.fill(worst);
  }

  void add(Value value, std::int64_t at) noexcept {
    if (empty_) {
      empty_ = false;
      part_end_ = at + part_;
    } else if (at >= part_end_) {
      move_to(at);
    }
    if (Better{}(value, bests_[current_])) bests_[current_] = value;
    if (Better{}(value, best_)) best_ = value;
  }
  Value best() const noexcept { return best_; }
  bool empty() const noexcept { return empty_; }

 private:
  void move_to(std::int64_t at) noexcept {
    const std::int64_t steps = (at - part_end_) / part_ + 1;
    part_end_ += steps * part_;
    for (std::int64_t i = 0; i < steps && i < static_cast<std::int64_t>(kParts); ++i) {
      current_ = (current_ + 1) % kParts;
      bests_[current_] = worst_;
    }
    best_ = worst_;
    for (const Value& value : bests_) {
      if (Better{}(value, best_)) best_ = value;
    }
  }

  std::int64_t part_;
  Value worst_;
  Value best_;
  std::array<Value, kParts> bests_{};
  std::size_t current_ = 0;
  std::int64_t part_end_ = 0;
  bool empty_ = true;
};

}  // namespace aqueduct::conduits::udp
