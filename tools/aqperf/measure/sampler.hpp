#pragma once

#include "tools/aqperf/measure/session.hpp"
#include "tools/aqperf/report/report.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::perf {

/// Something to measure: what every rank does `batch` times when called.
struct Subject {
  std::function<void(std::uint64_t batch)> run;
  bool records = true;    ///< whether this rank's clock counts
  double operations = 1;  ///< in one turn; the figure is for one operation
  /// Before each sample, which is one turn then; its time does not count. Empty: samples are of many turns, one behind the other.
  std::function<void()> prepare{};
};

/// One trial: runs the subject for about `budget`. Returns nanoseconds per operation for each sample. Collective.
///
/// A sample is a batch so long that reading the clock (22 ns) does not matter. Rank 0 determines its length, and
/// subtracts the time that this takes from the budget, so that a disturbed start does not prolong a trial to minutes.
Samples run_trial(Session& session, const Subject& subject, std::chrono::nanoseconds budget,
                  double& longest_ns);

/// The comparator: the best that the machine itself does, or the reason why that cannot be measured here.
struct Raw {
  std::optional<Subject> subject;
  std::string what;
  /// Further comparators, by name: "tcp" makes raw_tcp and ratio_tcp.
  std::vector<std::pair<std::string, Subject>> more{};
  bool always = false;  ///< also measured without --vs
};

/// Measures a row: subject and comparators take turns, --repeat times.
/// Returns the same row at every rank. Collective.
///
/// A latency is the median over the ranks that record; a rate is their sum.
Row measure(Session& session, std::string bench, std::size_t bytes, Unit unit, const Subject& subject,
            const Raw& raw);

}  // namespace aqueduct::perf
