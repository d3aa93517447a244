#pragma once

#include "tools/aqperf/report/fair_means.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace aqueduct::perf {

/// What one job of a sweep has measured at one size.
struct SweepSample {
  std::size_t variant = 0;
  std::size_t bytes = 0;
  double figure = 0;        ///< its median
  std::string algorithm{};  ///< what ran
};

/// One variant at one size, over all turns.
struct SweepCell {
  std::size_t turns = 0;  ///< 0: it was not measured
  double median = 0;      ///< of the turns
  double least = 0;
  double most = 0;
  double ratio = 0;  ///< to the first variant at this size; 0: one of them was not measured
  std::string algorithm{};
};

struct SweepLine {
  std::size_t bytes = 0;
  std::vector<SweepCell> cells;  ///< [variant]
  std::size_t best = 0;          ///< the first of equals
};

struct SweepTable {
  std::vector<SweepLine> lines;          ///< by rising bytes
  std::vector<FairMeans> means;          ///< [variant] of the ratios to the first variant
  std::vector<std::size_t> best_counts;  ///< [variant] at how many sizes it is the best
};

/// `larger_is_better`: the figures are rates.
SweepTable tabulate(const std::vector<SweepSample>& samples, std::size_t variants, bool larger_is_better);

}  // namespace aqueduct::perf
