#pragma once

#include <aqueduct/job.hpp>

namespace aqueduct::runtime {

/// Has the launcher told if the program calls `exit`, or returns from main, with a status other than 0 before
/// `job_closed`. With status 0 it is not told: the process counts as lost (docs/decisions/0064-leave.md).
void job_opened(Job::Impl& job);
/// Does nothing if the job is not open.
void job_closed(Job::Impl& job) noexcept;

}  // namespace aqueduct::runtime
