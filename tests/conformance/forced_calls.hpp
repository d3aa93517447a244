#pragma once

#include "tests/conformance/forced_jobs.hpp"

namespace aqueduct::conformance {

/// Calls, on a rank of the job, all operations that the job forces, on teams of 1, 2, … ranks, and judges each call.
void play_forced_job(Endpoint& me, const ForcedJob& job);

}  // namespace aqueduct::conformance
