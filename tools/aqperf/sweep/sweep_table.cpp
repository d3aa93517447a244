#include "tools/aqperf/sweep/sweep_table.hpp"

#include "tools/aqperf/measure/statistics.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace aqueduct::perf {

namespace {

SweepCell cell_of(std::vector<double> figures) {
  if (figures.empty()) return {};
  const auto [least, most] = std::minmax_element(figures.begin(), figures.end());
  SweepCell cell{.turns = figures.size(), .least = *least, .most = *most};
  cell.median = median(figures);
  return cell;
}

/// Those of all sizes.
void summarize(SweepTable& table, std::size_t variants) {
  table.best_counts.assign(variants, 0);
  for (std::size_t variant = 0; variant < variants; ++variant) {
    std::vector<RatioAt> ratios;
    for (const SweepLine& line : table.lines) ratios.push_back({line.bytes, line.cells[variant].ratio});
    table.means.push_back(fair_means(ratios));
  }
  for (const SweepLine& line : table.lines) ++table.best_counts[line.best];
}

}  // namespace

SweepTable tabulate(const std::vector<SweepSample>& samples, std::size_t variants, bool larger_is_better) {
  std::map<std::size_t, std::vector<std::vector<double>>> by_bytes;
  std::map<std::pair<std::size_t, std::size_t>, std::string> algorithms;
  for (const SweepSample& sample : samples) {
    auto& figures = by_bytes[sample.bytes];
    figures.resize(variants);
    figures[sample.variant].push_back(sample.figure);
    algorithms[{sample.bytes, sample.variant}] = sample.algorithm;
  }
  SweepTable table;
  for (auto& [bytes, figures] : by_bytes) {
    SweepLine line{.bytes = bytes, .cells = {}, .best = variants};
    for (std::size_t variant = 0; variant < variants; ++variant) {
      SweepCell cell = cell_of(std::move(figures[variant]));
      cell.algorithm = algorithms[{bytes, variant}];
      line.cells.push_back(std::move(cell));
    }
    for (std::size_t variant = 0; variant < variants; ++variant) {
      SweepCell& cell = line.cells[variant];
      if (cell.turns == 0) continue;
      if (const double first = line.cells[0].median; first > 0) cell.ratio = cell.median / first;
      if (line.best == variants || (larger_is_better ? cell.median > line.cells[line.best].median
                                                     : cell.median < line.cells[line.best].median))
        line.best = variant;
    }
    table.lines.push_back(std::move(line));
  }
  summarize(table, variants);
  return table;
}

}  // namespace aqueduct::perf
