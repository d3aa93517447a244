#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace aqueduct::conduits::udp {

/// Bounds the window where loss is too heavy to be chance: a queue overflows, or others need room.
class LossBound {
 public:
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  /// An acknowledgement with this news; `window`: what would be allowed without a bound. Rounds of less than `enough`
  /// bytes count together with the next: one packet of four says nothing. Nor does
  /// the bound go below that: where all lose, who has least in flight would lose most of it, and starve.
  void note(std::uint64_t acknowledged, std::uint64_t lost, std::uint64_t in_flight, std::uint64_t window,
            std::uint64_t enough, bool round_ends) noexcept {
    acknowledged_ += acknowledged;
    lost_ += lost;
    peak_ = std::max(peak_, in_flight + lost);
    const std::uint64_t all = acknowledged_ + lost_;
    if (!round_ends || all < enough) return;
    const bool heavy = lost_ > all / 5;
    noticeable_ = lost_ > all / 20;
    heavy_rounds_ = heavy ? std::min(heavy_rounds_ + 1, kRounds) : 0;
    if (excessive()) {
      bytes_ = std::max(std::min(bytes_, peak_) / 20 * 17, enough);  // chosen: x 0.85
    } else if (!heavy && bytes_ != kNone) {
      bytes_ += bytes_ / 8 + 1;  // back at the old size after six good rounds from two bad ones
      if (bytes_ >= window) bytes_ = kNone;
    }
    acknowledged_ = lost_ = peak_ = 0;
  }
  bool excessive() const noexcept { return heavy_rounds_ == kRounds; }
  /// More than 5 % of the last round was lost.
  bool noticeable() const noexcept { return noticeable_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr int kRounds = 2;  // chosen: one bad round may be a burst of interference

  std::uint64_t acknowledged_ = 0, lost_ = 0, peak_ = 0;  ///< in this round
  std::uint64_t bytes_ = kNone;
  int heavy_rounds_ = 0;
  bool noticeable_ = false;
};

}  // namespace aqueduct::conduits::udp
