#pragma once

#include "conduits/udp/carrier/time.hpp"
#include "conduits/udp/protocol/windowed_best.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>

namespace aqueduct::conduits::udp {

/// How many bytes the acknowledgements run ahead of the estimated bandwidth after a silence. A receiver that lost its
/// core for a moment, or whose kernel coalesces datagrams, acknowledges many packets at once. The congestion window
/// must have room for these bytes too, or the path idles during each silence.
class AckAggregation {
 public:
  AckAggregation() noexcept : excess_(kRounds, 0) {}

  void note(Time now, std::uint64_t bytes, double bandwidth, std::uint64_t window,
            std::int64_t round) noexcept {
    // A bucket that drains at the current bandwidth estimate. If the estimate falls later, bytes that were expected
    // when they arrived do not become excess.
    const double expected = bandwidth * static_cast<double>(now - last_) * 1e-9;
    ahead_ = std::max(ahead_ - expected, 0.0) + static_cast<double>(bytes);
    last_ = now;
    const double most = std::min(bandwidth * kLongest, static_cast<double>(window));
    ahead_ = std::min(ahead_, most);
    excess_.add(static_cast<std::uint64_t>(ahead_), round);
  }
  std::uint64_t excess() const noexcept { return excess_.best(); }

 private:
  static constexpr std::int64_t kRounds = 10;  // chosen: as for the bandwidth
  static constexpr double kLongest = 0.01;     // chosen: seconds; a few time slices of a scheduler

  Time last_ = 0;
  double ahead_ = 0;
  WindowedBest<std::uint64_t, std::greater<>> excess_;
};

}  // namespace aqueduct::conduits::udp
