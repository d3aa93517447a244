#pragma once

#include "runtime/job_impl.hpp"

namespace aqueduct::runtime {

// The steps of Job::start, from a single process to connected endpoints. Each returns the first error. An error on one
// process is sent to all, so that no process waits for one that has given up.

/// Finds the launcher that started this process, and joins its job.
Status join(Job::Impl& job);
/// Learns the processes of the job, their hosts and numbers of
/// endpoints, and compares versions and settings: one exchange.
Status meet(Job::Impl& job, std::size_t endpoints);
/// Chooses the conduits (one exchange, if there are several hosts and no conduit is named). Opens conduits, endpoints
/// and the job's own segments. Exchanges addresses and keys, or the error of this process: one exchange. Then connects
/// and builds the layers. If `far` is not null, it is the only conduit and nothing is chosen (for tests).
Status open_endpoints(Job::Impl& job, core::Network* far);

}  // namespace aqueduct::runtime
