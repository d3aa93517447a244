#pragma once

#include "conduits/udp/carrier/time.hpp"

#include <algorithm>
#include <cstdint>

namespace aqueduct::conduits::udp {

/// Whether a short message waits to share a packet with those after it: if another one is in flight, or if the program has
/// posted several before it made progress, some times in a row, and so will probably do again.
///
/// A program that posts a series of short messages, and then makes progress, loses nothing: all leave by then, in few
/// packets. One that posts two, and then computes, would have the second leave only when it makes progress again, or by the
/// conduit's progress thread. So messages that have waited too long are remembered: for a while the next ones leave at
/// once, for longer each time that a trial shows the same.
///
/// Cost: a clock is read for the first message of a series that waits.
class BurstPatience {
 public:
  bool waits() const noexcept { return hurried_ == 0; }
  /// Whether a message waits.
  bool holds() const noexcept { return held_at_ != 0; }
  /// One waits from now on. Requires: !holds().
  void held(Time now) noexcept { held_at_ = now; }
  /// What has waited leaves.
  void left(Time now) noexcept {
    if (held_at_ == 0) return;
    if (now - held_at_ > kTooLong) {
      hurried_ = spell_;
      spell_ = std::min(2 * spell_, kLongestSpell);
    } else {
      spell_ = kShortestSpell;
    }
    held_at_ = 0;
  }
  /// Whether the first message waits too, though nothing is in flight.
  bool expects_more() const noexcept { return waits() && series_ == kSeries; }
  /// The program posts a message.
  void posted() noexcept { ++run_; }
  /// It makes progress.
  void progressed() noexcept {
    if (run_ == 0) return;
    series_ = run_ >= kLongRun ? std::min(series_ + 1, kSeries) : 0;
    run_ = 0;
  }
  /// A message has left at once that would have waited for others.
  void left_at_once() noexcept {
    if (hurried_ != 0) --hurried_;
  }

 private:
  // Chosen: some round trips of a fast network.
  static constexpr Time kTooLong = 50 * kMicrosecond;
  // In messages. Chosen: of a program that always computes after it has posted, at first one message in 64 waits.
  static constexpr std::uint32_t kShortestSpell = 64;
  static constexpr std::uint32_t kLongestSpell = 4096;

  // Chosen: with so many in a row, a packet less is worth more than the time until the program makes progress.
  static constexpr std::uint32_t kLongRun = 8;
  static constexpr std::uint32_t kSeries = 4;

  Time held_at_ = 0;  ///< 0: nothing waits
  std::uint32_t hurried_ = 0;
  std::uint32_t spell_ = kShortestSpell;
  std::uint32_t run_ = 0;     ///< messages since the last progress
  std::uint32_t series_ = 0;  ///< long runs in a row, up to kSeries
};

}  // namespace aqueduct::conduits::udp
