#pragma once

#include "tools/aqperf/measure/session.hpp"

#include <chrono>
#include <optional>
#include <string>

#include <sched.h>

namespace aqueduct::perf {

/// How both sides of a comparison wait: first by looking only, then by yielding the core between looks.
class Patience {
 public:
  /// Chosen: looks before yielding. They take some 4 µs with a plain load, longer
  ///         than any answer from a running core.
  static constexpr unsigned kLooks = 4096;
  /// The same limit where each look is a round of progress.
  static constexpr unsigned kRounds = 500;

  explicit Patience(unsigned looks) noexcept : looks_(looks) {}
  Patience(const Session& session, unsigned looks) noexcept : looks_(session.crowded() ? 0 : looks) {}

  template <class Condition>
  void until(Condition&& holds) const noexcept(noexcept(holds())) {
    for (unsigned look = 0; !holds();) {
      if (look < looks_) {
        ++look;
      } else {
        sched_yield();
      }
    }
  }

  /// Like `until`, for waits on a library that may never answer. Throws
  /// Failure if `what` has not come within a minute.
  template <class Condition>
  void until_or_fail(Condition&& holds, const char* what) const {
    using Clock = std::chrono::steady_clock;
    std::optional<Clock::time_point> began;  // the clock costs more than a look, so it is read rarely
    unsigned looks = 0;
    until([&] {
      if (holds()) return true;
      if (++looks % kLooks != 0) return false;
      const auto now = Clock::now();
      if (!began) began = now;
      if (now - *began > kLongest)
        throw Failure(std::string("nothing within a minute while waiting for ") + what, 1);
      return false;
    });
  }

 private:
  // Chosen: longer than any round of a measurement.
  static constexpr std::chrono::seconds kLongest{60};

  unsigned looks_;
};

}  // namespace aqueduct::perf
