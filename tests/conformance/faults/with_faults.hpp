#pragma once

#include "tests/conformance/fabric.hpp"
#include "tests/conformance/faults/fault_plan.hpp"

namespace aqueduct::conformance {

/// The same fabric, with a FaultyNetwork around its network.
///
/// Requires: fabric.one_process(); a FaultyNetwork serves the ranks of one process.
Fabric with_faults(Fabric fabric, const FaultPlan& plan);

}  // namespace aqueduct::conformance
