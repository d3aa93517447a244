#pragma once

#include "tools/aqperf/failure.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace aqueduct::perf {

/// Ends a comparator's wait that would never end: plain calls of a network's library do not report a lost peer.
///
/// Time during which this process was stopped does not count.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  /// Chosen: longer than any turn of a benchmark.
  static constexpr std::chrono::seconds kLimit{60};

  /// To be called after each look that found nothing; reads the clock every few
  /// thousand calls. Throws Failure at the limit.
  void look(const char* what) {
    if (++looks_ % kLooks != 0) return;
    const auto now = Clock::now();
    if (last_ != Clock::time_point{})
      waited_ += std::min<Clock::duration>(now - last_, std::chrono::seconds(1));
    last_ = now;
    if (waited_ > kLimit) throw Failure(std::string("nothing within a minute while waiting for ") + what, 1);
  }

 private:
  static constexpr unsigned kLooks = 4096;

  unsigned looks_ = 0;
  Clock::time_point last_{};
  Clock::duration waited_{};
};

}  // namespace aqueduct::perf
