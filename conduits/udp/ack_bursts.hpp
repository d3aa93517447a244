#pragma once

#include "conduits/udp/time.hpp"
#include "conduits/udp/windowed_best.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>

namespace aqueduct::conduits::udp {

/// By how much acknowledgements run ahead of the estimated bandwidth after a silence: a receiver that lost its core
/// for a moment, or whose kernel coalesces, answers for many packets at once. The window must hold these too, or
/// the path idles during each silence.
class AckBursts {
 public:
  AckBursts() noexcept : excess_(kRounds, 0) {}

  void note(Time now, std::uint64_t bytes, double bandwidth, std::uint64_t window,
            std::int64_t round) noexcept {
    // A bucket that empties at the estimated bandwidth of the moment, so that an estimate that falls later does not
    // turn what was expected into a surprise.
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
  static constexpr double kLongest = 0.01;     // chosen: seconds; some time slices of a scheduler

  Time last_ = 0;
  double ahead_ = 0;
  WindowedBest<std::uint64_t, std::greater<>> excess_;
};

}  // namespace aqueduct::conduits::udp
