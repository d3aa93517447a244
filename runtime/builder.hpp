#pragma once

#include <aqueduct/job.hpp>

#include "core/network.hpp"

namespace aqueduct::runtime {

/// Builds a job of one process whose only conduit is `far`, which outlives it. For tests with a conduit of their own.
Result<Job> build_in_process(Rank ranks, const Config& config, core::Network& far);

}  // namespace aqueduct::runtime
