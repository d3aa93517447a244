#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace aqueduct::detail {

/// Which of two ways of doing a thing takes less time, learned from a few that are timed. Of one thread.
///
/// For each thing: `if (is_timed())` do it by `timed_way()` and tell `took`; else do it by `way()`.
class QuickerWay {
 public:
  enum Way : std::uint8_t { usual, other };

  bool is_timed() noexcept { return --left_ == 0; }
  Way way() const noexcept { return way_; }
  Way timed_way() const noexcept { return timed_; }

  /// `time`: of one thing, in any unit. `most`: what takes longer was disturbed, and counts as so long.
  void took(std::uint32_t time, std::uint32_t most) noexcept {
    Seen& seen = seen_[timed_];
    const float now = static_cast<float>(std::min(time, most));
    // The first ones find code and memory that are in no cache yet.
    if (seen.times < kFirst) {
      seen.mean = seen.times == 0 ? now : std::min(seen.mean, now);
      ++seen.times;
    } else {
      seen.mean += (now - seen.mean) / 4;
    }
    timed_ = timed_ == usual ? other : usual;
    left_ = seen_[other].times < kFirst ? kFirstDistance : kDistance;
    if (seen_[other].times != 0 && seen_[usual].times != 0) choose();
  }

 private:
  // Chosen: each way is timed four times before a mean is made, and the first choice comes within a hundred things. Later one thing of
  // 128 is timed: that costs it a look at the clock before and behind, and as much as it takes longer by the way that is slower.
  static constexpr std::uint32_t kFirst = 4;
  static constexpr std::uint32_t kFirstDistance = 12;
  static constexpr std::uint32_t kDistance = 128;

  struct Seen {
    float mean = 0;
    std::uint32_t times = 0;  ///< up to kFirst
  };

  /// A little better is not enough: the ways would change all the time.
  void choose() noexcept {
    const Way rest = way_ == usual ? other : usual;
    if (seen_[rest].mean < 0.9F * seen_[way_].mean) way_ = rest;
  }

  std::uint32_t left_ = kFirstDistance;
  Way way_ = usual;
  Way timed_ = other;
  std::array<Seen, 2> seen_{};
};

}  // namespace aqueduct::detail
