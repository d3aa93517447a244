#pragma once

#include "bootstrap/pmi1_wire.hpp"

/// An MPI library in the same process speaks with the process manager over the same descriptor. The first `finalize`
/// ends that connection for both, and what MPI sends afterwards would end the process by SIGPIPE.
namespace aqueduct::bootstrap::pmi1 {

/// Whether an MPI library is loaded, or linked into the program.
bool mpi_is_here() noexcept;

/// Leaves `finalize` to MPI. If MPI has not closed the descriptor when the process exits, because the program has not used
/// it, `finalize` is sent then: otherwise the manager would take the process for one that died.
void finalize_at_exit(const OpenFile& manager) noexcept;

}  // namespace aqueduct::bootstrap::pmi1
