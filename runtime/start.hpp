#pragma once

#include "runtime/job_impl.hpp"

namespace aqueduct::runtime {

// The steps from a process that knows nobody to connected endpoints. Each returns the first thing that is wrong;
// what can fail on one process alone is told to all, so that none waits for another that has given up.

/// Finds the launcher that started this process, and joins its job.
Status join(Job::Impl& job);
/// Who is in the job, on which host, with how many endpoints: one exchange.
Status meet(Job::Impl& job, std::size_t endpoints);
/// Which conduits serve it (between hosts, and with none named: one exchange); makes them, endpoints, addresses and the
/// job's own segments: one exchange, which also says what went wrong here alone; then connects, and builds the layers.
/// `far` takes the place of what would be chosen (tests).
Status open_endpoints(Job::Impl& job, core::Network* far);

}  // namespace aqueduct::runtime
