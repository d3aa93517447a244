#pragma once

#include "tools/aqcheck/study.hpp"

namespace aqueduct::aqcheck {

// What goes over the tree of a team: P - 1 edges, whichever member is the root. Paths are found from the parents alone.

Studied broadcast_on_team_tree(const coll::Shape& shape);
Studied scatter_on_team_tree(const coll::Shape& shape);
Studied blocks_on_team_tree(const coll::Shape& shape);
Studied reduce_on_team_tree(const coll::Shape& shape);

}  // namespace aqueduct::aqcheck
