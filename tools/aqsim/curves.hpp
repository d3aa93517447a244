#pragma once

#include "sim/simulate.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::aqsim {

// What `aqsim curves` prints: the curves of the source (R-…, F-…) that a model of messages can carry, beside what the
// simulator makes of them.

/// A row: what the source says, and what comes out here.
struct Finding {
  const char* id;
  const char* what;
  std::string source;
  std::string ours;
  bool agrees;
  const char* why;  ///< where they differ
};

std::vector<Finding> form_curves();      ///< the closed forms and the replay of trees, number by number
std::vector<Finding> tree_curves();      ///< broadcasts: radices, and many in flight
std::vector<Finding> host_curves();      ///< what crosses the network, by how many ranks share a host
std::vector<Finding> fork_curves();      ///< a tree along the links of a torus; trees of reductions
std::vector<Finding> exchange_curves();  ///< all-to-all and gather-to-all
std::vector<Finding> model_curves();     ///< how well closed forms rank
std::vector<Finding> search_curves();    ///< searches guided by a model; teams that choose for themselves
std::vector<Finding> guidelines();       ///< what must hold whatever the network

/// Nishtala's Table 5.1: the Sun cluster. As in his models the gap of a message comes before it, so it adds to the latency.
inline coll::LogGP sun() {
  return {.latency = 4'000'000, .overhead = 500'000, .gap = 2'000'000, .femtoseconds_per_byte = 1'000'000};
}
/// A machine with less to wait for between messages, as the Cray XT's are: chosen, since the source has no figures.
inline coll::LogGP cray() {
  return {.latency = 5'000'000, .overhead = 500'000, .gap = 500'000, .femtoseconds_per_byte = 500'000};
}

struct Setup {
  Rank ranks = 256;
  std::uint64_t bytes = 8;
  coll::LogGP link = sun();
  coll::Sync sync = coll::Sync::none;
  std::uint32_t times = 1;
  bool in_flight = false;
};

/// The operation of an algorithm, with its usual parameters but for the first one, if `parameter` is not 0.
coll::Shape shape_for(const coll::Algorithm& algorithm, std::uint32_t parameter, const Setup& setup);
/// Microseconds of one operation; of several, their average.
double time_of(const coll::Algorithm& algorithm, std::uint32_t parameter, const Setup& setup);

struct Best {
  std::uint32_t radix = 0;
  double us = 0;
};
/// Of the radices 2, 4, 8 and 16.
Best best_radix(const coll::Algorithm& algorithm, const Setup& setup);

/// By how much a ratio is more than 1.
std::string percent(double ratio);

}  // namespace aqueduct::aqsim
