#pragma once

#include "tools/aqcheck/check.hpp"

#include <functional>

namespace aqueduct::aqcheck {

/// Which shapes of an algorithm to look at.
struct Grid {
  Rank ranks = 1;
  bool all_roots =
      false;  ///< otherwise root 0 for a broadcast, see shifts_with_the_root, and a few for the others
  bool every_size = true;  ///< otherwise one awkward size: for mutations
  /// Root 0, one size, both sync modes alike, all addresses known, not in place: for teams too large for more.
  bool light = false;
};

/// Calls `visit` for every case of the grid that the algorithm can do: radices and numbers of segments about each limit,
/// sizes that cut badly, blocks with gaps, every sync mode and address mode, in place and not.
void for_each_case(const coll::Algorithm& algorithm, const Grid& grid,
                   const std::function<void(const Case&)>& visit);

/// Whether the schedule for root `shape.root` is that for root 0, with all positions shifted. Then root 0 stands for all.
bool shifts_with_the_root(const coll::Algorithm& algorithm, const coll::Shape& shape);

}  // namespace aqueduct::aqcheck
