#pragma once

#include "runtime/job_impl.hpp"

namespace aqueduct::runtime {

// The steps from a process that knows nobody to connected endpoints. Each returns the first thing that is wrong;
// what can fail on one process alone is told to all, so that none waits for another that has given up.

/// Finds the launcher that started this process, and joins its job.
Status join(Job::Impl& job);
/// Who is in the job, on which host, with how many endpoints: one exchange.
Status meet(Job::Impl& job, std::size_t endpoints);
/// Which conduits serve it. `far` replaces the far one (tests).
Status choose_networks(Job::Impl& job, core::Network* far);
/// Makes what was chosen. It may fail here alone, so open_endpoints calls it, which tells the others.
Status make_networks(Job::Impl& job);
/// Networks, endpoints, addresses, the job's own segments: one exchange; then connects, and builds the layers.
Status open_endpoints(Job::Impl& job);

}  // namespace aqueduct::runtime
