#pragma once

#include "tools/aqcheck/study.hpp"

namespace aqueduct::aqcheck {

// What schedules send that go by hosts: P members on G hosts. On a host P - G messages go up to the leaders, and as many
// down. Depths are limits: a host of one member has nobody to hear from.

Studied barrier_by_hosts(const coll::Shape& shape);
Studied broadcast_by_hosts(const coll::Shape& shape);
Studied all_gather_by_hosts(const coll::Shape& shape);
Studied reduce_by_hosts(const coll::Shape& shape);
Studied all_reduce_by_hosts(const coll::Shape& shape);
Studied all_reduce_by_tree_of_hosts(const coll::Shape& shape);
Studied all_reduce_in_three_dimensions(const coll::Shape& shape);
/// Scatter and gather.
Studied blocks_by_hosts(const coll::Shape& shape);
Studied all_to_all_by_hosts(const coll::Shape& shape);
Studied reduce_scatter_by_hosts(const coll::Shape& shape);
/// Scan and exscan.
Studied scan_by_hosts(const coll::Shape& shape);

/// A pass of Sync::all by hosts. `on_tree`: from the root or to it.
void add_pass_by_hosts(Studied& to, const coll::Shape& shape, bool on_tree);

}  // namespace aqueduct::aqcheck
