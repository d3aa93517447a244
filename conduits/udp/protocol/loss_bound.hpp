#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace aqueduct::conduits::udp {

/// Bounds the congestion window when loss is too heavy to be random: a queue overflows, or other flows need room.
class LossBound {
 public:
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  /// Takes the result of one acknowledgement. `window`: the window without this bound. A round of less than `enough`
  /// bytes is merged with the next: one lost packet of four says nothing. The bound does not go below `enough`
  /// either: when all flows lose packets, the flow with the least in flight would lose the largest share, and starve.
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
      bytes_ += bytes_ / 8 + 1;  // two heavy rounds are made up for after six good ones
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
