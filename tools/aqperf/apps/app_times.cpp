#include "tools/aqperf/apps/app_times.hpp"

#include "tools/aqperf/measure/statistics.hpp"

namespace aqueduct::perf {

std::vector<AppTurn> mean_over_ranks(std::span<const std::vector<AppTurn>> of_ranks) {
  std::vector<AppTurn> out(of_ranks.empty() ? 0 : of_ranks[0].size());
  const auto ranks = static_cast<double>(of_ranks.size());
  for (const auto& turns : of_ranks) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].collective += turns[i].collective / ranks;
      out[i].total += turns[i].total / ranks;
    }
  }
  return out;
}

AppShares shares_of(std::span<const AppTurn> turns) {
  Samples totals;
  double collective = 0, total = 0;
  for (const AppTurn& turn : turns) {
    totals.push_back(turn.total);
    collective += turn.collective;
    total += turn.total;
  }
  return {median(totals), total > 0 ? collective / total : 0};
}

}  // namespace aqueduct::perf
