#pragma once

#include "coll/tune/learned_decisions.hpp"
#include "core/endpoint_state.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aqueduct::runtime {

/// What rank 0 tells all ranks about tuning (coll/tune/tuning_table.hpp): what its conduits' messages cost, and what its
/// files of decisions say. A file that cannot be used is left out, with one warning. May throw std::bad_alloc.
///
/// Requires: `rank_0` is rank 0, and its conduits are open.
std::vector<std::uint64_t> job_tuning(aqueduct::detail::EndpointState& rank_0);

/// Adds what teams have learned to the files that the setting of `rank`, one of this process, names. What cannot be saved
/// is left out, with a warning. Waits for the lock of a file, `patience` at most: coll/tune/learned_decisions.hpp.
void save_learned(aqueduct::detail::EndpointState& rank, const coll::LearnedDecisions& learned,
                  std::chrono::milliseconds patience);

}  // namespace aqueduct::runtime
