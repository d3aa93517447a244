#pragma once

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/report.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace aqueduct::bootstrap {

/// Joins the job of a launcher that serves PMIx: Open MPI's mpirun, prterun, srun --mpi=pmix.
///
/// `library` is the file of libpmix; empty: the one that the loader finds. It is loaded only here, so that a
/// site without it can run everything else. Each wait for PMIx takes at most `timeout`
/// (AQUEDUCT_BOOTSTRAP_TIMEOUT).
/// Errors:  timed_out; not_supported (this build has no PMIx), bootstrap_failed (libpmix is missing or unusable, or the server
///          does not answer).
Result<std::unique_ptr<Bootstrap>> from_pmix(const std::string& library, std::chrono::milliseconds timeout,
                                             Report report);

/// The libpmix that a job would use, "OpenPMIx 4.2.2 (libpmix.so.2)", or the reason why a job could not use one.
std::string describe_pmix(const std::string& library);

}  // namespace aqueduct::bootstrap
