#pragma once

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/report.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace aqueduct::bootstrap {

/// Joins the job of a launcher that serves PMIx: Open MPI's mpirun, prterun, srun --mpi=pmix.
///
/// `library` is the file of libpmix, empty for the one that the loader finds; it is loaded only now, so that a
/// site without it can run everything else. A fence waits `timeout` at most (AQUEDUCT_BOOTSTRAP_TIMEOUT).
/// Errors:  not_supported (this build has no PMIx), bootstrap_failed (no such library, or of no use; the server
///          does not answer).
Result<std::unique_ptr<Bootstrap>> from_pmix(const std::string& library, std::chrono::milliseconds timeout,
                                             Report report);

/// Which libpmix a job would use, "OpenPMIx 4.2.2 (libpmix.so.2)", or why it could not, for people.
std::string describe_pmix(const std::string& library);

}  // namespace aqueduct::bootstrap
