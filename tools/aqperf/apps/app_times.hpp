#pragma once

#include <span>
#include <vector>

namespace aqueduct::perf {

/// Nanoseconds of one turn of an application, as means over its ranks.
struct AppTurn {
  double collective = 0;  ///< inside collective calls, waits for others included
  double total = 0;
};

/// The turns of all ranks, as means over ranks. Each rank has as many turns.
std::vector<AppTurn> mean_over_ranks(std::span<const std::vector<AppTurn>> of_ranks);

/// What all turns took.
struct AppShares {
  double total_median = 0;
  double share = 0;  ///< of the time of all turns, inside collective calls: 0 to 1
};
AppShares shares_of(std::span<const AppTurn> turns);

}  // namespace aqueduct::perf
