#pragma once

#include <aqueduct/job.hpp>

#include "core/network.hpp"

namespace aqueduct::runtime {

/// A job of one process whose only conduit is `far`, which outlives it: for tests that put something of their own
/// under the layers. `process` tells what such a network needs to know to be made.
Result<Job> build_in_process(Rank ranks, const Config& config, core::Network& far);

}  // namespace aqueduct::runtime
