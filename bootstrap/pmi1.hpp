#pragma once

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/report.hpp"

#include <chrono>
#include <cstdint>
#include <memory>

namespace aqueduct::bootstrap {

/// What PMI_FD, PMI_RANK and PMI_SIZE say.
struct Pmi1Place {
  int descriptor = -1;
  std::uint32_t process = 0;
  std::uint32_t processes = 0;
};

/// Joins the job of a launcher that speaks PMI-1 over an inherited socket: MPICH's mpiexec.hydra.
///
/// No answer is waited for longer than `timeout` (AQUEDUCT_BOOTSTRAP_TIMEOUT). The descriptor belongs to the
/// result from here on.
/// Errors:  bad_setting (the variables make no sense), bootstrap_failed (the manager is gone or refuses).
Result<std::unique_ptr<Bootstrap>> from_pmi1(const Pmi1Place& place, std::chrono::milliseconds timeout,
                                             Report report);

}  // namespace aqueduct::bootstrap
