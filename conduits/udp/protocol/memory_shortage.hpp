#pragma once

#include "conduits/udp/carrier/time.hpp"

#include <algorithm>
#include <cstdint>

namespace aqueduct::conduits::udp {

/// Tells a shortage of memory that lasts from one that passes. A post or a packet for which there is no memory is tried
/// again, so without a limit it would be tried for ever.
class MemoryShortage {
 public:
  /// An allocation has failed.
  void note() noexcept {
    noted_ = true;
    ++failures_;
  }
  /// Whether allocations have failed for `limit`, and nothing has moved in that time. `progress` is a number that changes when
  /// something moves. A failure that comes `limit` after the one before begins another shortage. Call it regularly, or after
  /// each `note`.
  bool lasts(Time now, std::uint64_t progress, Time limit) noexcept {
    if (since_ != kNever && (progress != progress_ || now - latest_ >= limit)) since_ = kNever;
    if (!noted_) return false;
    noted_ = false;
    latest_ = now;
    if (since_ == kNever) {
      since_ = now;
      progress_ = progress;
    }
    return now - since_ >= limit;
  }
  /// The next failure begins another shortage.
  void begin_again() noexcept { since_ = kNever; }
  /// This process itself was not running for `gap`.
  void discount_pause(Time now, Time gap) noexcept {
    if (since_ != kNever) since_ = std::min(since_ + gap, now);
  }
  std::uint64_t failures() const noexcept { return failures_; }

 private:
  bool noted_ = false;
  Time since_ = kNever;  // the first failure since something has moved
  Time latest_ = 0;      // the latest failure
  std::uint64_t progress_ = 0;
  std::uint64_t failures_ = 0;
};

}  // namespace aqueduct::conduits::udp
