#pragma once

#include "coll/schedule/algorithm.hpp"

#include <cstdint>
#include <vector>

namespace aqueduct::simgrid_tests {

/// What SimGrid simulates: hosts with a link in each direction to a switch that never blocks, a torus, or a fat tree.
struct Platform {
  double latency_us = 1;                  ///< from host to host; in a torus or fat tree, of each link
  double overhead_us = 0;                 ///< of each post: SimGrid has none, so the sender sleeps
  double ns_per_byte = 0.1;               ///< of each link
  std::vector<unsigned long> torus = {};  ///< its sizes
  unsigned int ports = 0;                 ///< of the switches of a fat tree of two tiers
};

/// Microseconds that SimGrid takes for the schedule of an operation: one actor for each member executes its steps.
///
/// Requires: members have one lane, whose steps wait for peers only.
/// Runs in a child process, since SimGrid simulates once in each.
double simgrid_us(const coll::Algorithm& algorithm, const coll::Shape& shape, const Platform& platform);

}  // namespace aqueduct::simgrid_tests
