#pragma once

#include "runtime/job_impl.hpp"

namespace aqueduct::runtime {

/// Ends this process if another one has left the job with a code, or if a signal handler of this one wants to.
void end_if_asked(Job::Impl& job);

/// Makes each endpoint take the launcher's reports of lost processes, on the endpoint's own thread.
/// Such a look also ends this process if it is asked to.
void watch_losses(Job::Impl& job);

}  // namespace aqueduct::runtime
