#pragma once

#include "tests/conformance/fabric.hpp"

namespace aqueduct::conformance {

/// The conformance kit as a program over these fabrics: reads the command line (--help explains it), runs the cases and
/// prints a table. Returns the exit status: 0 if cases ran and none failed, 2 for a wrong command line.
///
/// Requires: called once, by `main`, before any threads are started. The kit's children are forked.
int run_kit(int argc, char** argv, FabricList fabrics);

}  // namespace aqueduct::conformance
