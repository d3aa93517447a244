#pragma once

#include "tools/aqperf/report.hpp"
#include "tools/aqperf/session.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::perf {

/// Something to measure: what every rank does, `batch` times, when told.
struct Subject {
  std::function<void(std::uint64_t batch)> run;
  bool records = true;    ///< whether this rank's clock counts
  double operations = 1;  ///< in one turn: the figure is for one of these
};

/// One trial: runs the subject for about `budget`; nanoseconds for one operation, by sample. Collective.
///
/// A sample is a batch long enough that reading the clock (22 ns) does not show. Rank 0 finds its length, and
/// goes on from the time already taken, so that a disturbed beginning does not make a trial of minutes.
Samples run_trial(Session& session, const Subject& subject, std::chrono::nanoseconds budget,
                  double& longest_ns);

/// What the machine itself does, or why that cannot be measured here.
struct Raw {
  std::optional<Subject> subject;
  std::string what;
  /// Further comparators, by name: "tcp" makes raw_tcp and ratio_tcp.
  std::vector<std::pair<std::string, Subject>> more{};
};

/// A row: subject and comparators in turns, --repeat times. The same at every rank. Collective.
///
/// Latencies are the median over the ranks that record; rates are their sum.
Row measure(Session& session, std::string bench, std::size_t bytes, Unit unit, const Subject& subject,
            const Raw& raw);

}  // namespace aqueduct::perf
