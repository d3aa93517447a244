#pragma once

#include "core/network.hpp"

namespace aqueduct::conduits::sim {

/// Many ranks in one process, on a simulated network in virtual time. docs/conduits/sim.md
extern const core::ConduitEntry sim_entry;

}  // namespace aqueduct::conduits::sim
