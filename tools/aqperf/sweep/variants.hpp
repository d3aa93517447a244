#pragma once

#include "tools/aqperf/options.hpp"

#include <string>
#include <vector>

namespace aqueduct::perf {

/// One of the jobs that a sweep compares: the same benchmark, started in another way.
struct Variant {
  std::string label{};      ///< as in the head of its column
  std::string algorithm{};  ///< forced by its setting; empty: the library chooses
  Rank hosts = 0;           ///< pretended ones, which share no memory; 0: the ranks are on this host
  Rank each = 0;            ///< ranks of a host
  bool threads = false;     ///< the ranks of a host are threads of one process
};

/// Whether the options ask for a sweep.
bool sweeps(const SweepForm& form) noexcept;

/// What the options ask for, in this order: --algorithm and --trees (requirement HB-02), --divide (N-14), --hosts (HB-08). The first
/// one is what the others are compared with.
std::vector<Variant> variants_of(const Options& options);

/// The setting that forces an algorithm of the benchmark's operation: "coll-all-reduce" → AQUEDUCT_COLL_ALL_REDUCE.
std::string forcing_setting(const std::string& bench);

/// What does not fit together; empty if all does.
std::string problem_of_sweep(const Options& options);

}  // namespace aqueduct::perf
