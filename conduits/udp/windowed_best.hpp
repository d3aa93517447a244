#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace aqueduct::conduits::udp {

/// The best value of the recent past in constant space and time: the window is cut into kParts parts, each remembers its
/// best, and whole parts are forgotten. So what best() covers is between (kParts - 1) / kParts of the window and all
/// of it. Time is whatever the caller counts: nanoseconds, rounds. It moves with `add` only: silence forgets nothing.
template <typename Value, typename Better, std::size_t kParts = 5>
class WindowedBest {
 public:
  /// `worst`: what best() says before anything was added; not better than any value.
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
