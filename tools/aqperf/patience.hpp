#pragma once

#include "tools/aqperf/session.hpp"

#include <sched.h>

namespace aqueduct::perf {

/// How both sides of a comparison wait: look for a while, then let others run between looks.
class Patience {
 public:
  /// Chosen: some 4 µs of a plain load, longer than any answer from a core that is running.
  static constexpr unsigned kLooks = 4096;
  /// The same where each look is a round of progress.
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

 private:
  unsigned looks_;
};

}  // namespace aqueduct::perf
