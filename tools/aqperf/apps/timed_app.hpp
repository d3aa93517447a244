#pragma once

#include "tools/aqperf/apps/app_times.hpp"
#include "tools/aqperf/measure/session.hpp"
#include "tools/aqperf/report/report.hpp"

#include <chrono>
#include <cstddef>
#include <vector>

namespace aqueduct::perf {

/// The clock of a small application: what its turns take, and what of that its collective calls take. All ranks make the same calls.
class TimedApp {
 public:
  explicit TimedApp(Session& session) : session_(&session) {}

  /// Whether another turn follows: until --seconds are over, at least kLeastTurns, at most kMostTurns. Collective.
  bool goes_on();

  /// All ranks begin together.
  void begin_turn();
  /// A collective call. Throws Failure if it fails.
  template <class Call>
  void collective(const Call& call, const char* name) {
    const auto begin = Clock::now();
    require(call(), name);
    turn_.collective += since(begin);
  }
  void end_turn();
  /// Ends a turn that is not one of those of the row.
  AppTurn end_turn_apart();

  /// Time in collective calls of a turn, with `total`, the time of a whole turn, and `share`, the part of all time that is inside
  /// collective calls. Turns are means over ranks. Collective.
  Row row(std::size_t bytes);

 private:
  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  }
  static constexpr std::size_t kLeastTurns = 3;   // chosen; the first warms up
  static constexpr std::size_t kMostTurns = 128;  // specified: HB-06

  Session* session_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point begun_{};
  AppTurn turn_;
  std::vector<AppTurn> turns_;
};

}  // namespace aqueduct::perf
