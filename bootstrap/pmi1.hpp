#pragma once

#include "bootstrap/bootstrap.hpp"
#include "bootstrap/report.hpp"

#include <chrono>
#include <cstdint>
#include <memory>

namespace aqueduct::bootstrap {

/// The values of PMI_FD, PMI_RANK and PMI_SIZE.
struct Pmi1Place {
  int descriptor = -1;
  std::uint32_t process = 0;
  std::uint32_t processes = 0;
};

/// Joins the job of a launcher that speaks PMI-1 over an inherited socket: MPICH's mpiexec.hydra.
///
/// Waits at most `timeout` (AQUEDUCT_BOOTSTRAP_TIMEOUT) for each answer. The result owns the descriptor from here on.
/// Errors:  bad_setting (the variables make no sense), bootstrap_failed (the manager has ended or refuses).
Result<std::unique_ptr<Bootstrap>> from_pmi1(const Pmi1Place& place, std::chrono::milliseconds timeout,
                                             Report report);

}  // namespace aqueduct::bootstrap
