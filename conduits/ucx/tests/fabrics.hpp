#pragma once

#include "tests/conformance/fabric.hpp"

#include <vector>

namespace aqueduct::conformance {

/// What the ucx conduit gives to the kit.
std::vector<Fabric> ucx_fabrics();

}  // namespace aqueduct::conformance
