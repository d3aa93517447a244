#pragma once

#include "tools/aqperf/measure/statistics.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aqueduct::perf {

/// One line of the report. An unset field could not be measured here.
struct Row {
  std::string bench;
  std::string conduit;
  unsigned ranks = 0;
  std::size_t bytes = 0;
  Unit unit;
  Summary figure;                                          ///< in the unit
  std::optional<double> raw;                               ///< its median, in the unit
  std::optional<double> raw_mean;                          ///< its mean
  std::vector<std::pair<std::string, Summary>> more_raws;  ///< further comparators, by name
  std::string raw_what;                                    ///< what raw was, or why there is none
  double longest_stall_ms = 0;                             ///< the longest sample; no stall was longer
  double others_cores = 0;  ///< cores that other processes kept busy during the measurement
  std::optional<double> cacheline_before_ns;
  std::optional<double> cacheline_after_ns;
  std::vector<std::pair<std::string, double>> extra;  ///< figures that only this benchmark has
  std::string algorithm;                              ///< what ran, where the library chooses

  /// median / raw, if raw was measured.
  std::optional<double> ratio() const { return raw ? ratio_to(*raw) : std::nullopt; }
  std::optional<double> ratio_to(double other) const;
};

std::string to_json(const Row& row);

/// Prints rows as they are added. Only one rank's reporter prints.
class Reporter {
 public:
  Reporter(bool json, bool show_stalls, bool silent)
      : json_(json), show_stalls_(show_stalls), silent_(silent) {}
  /// Prints the row on standard output, and what makes it doubtful on standard error.
  void add(const Row& row);
  /// Prints a remark on the rows above, unless it is empty: below the table, or on standard error with --json.
  void say(const std::string& remark);

 private:
  void head(const Row& row);
  void doubt(const Row& row);
  bool json_;
  bool show_stalls_;
  bool silent_;
  bool headed_ = false;
  bool told_busy_ = false;
  bool told_far_ = false;
};

}  // namespace aqueduct::perf
