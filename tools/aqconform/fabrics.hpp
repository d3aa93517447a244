#pragma once

#include "tests/conformance/fabric.hpp"

namespace aqueduct::conformance {

/// Every fabric of this tree, including hidden ones, of the conduits that this build has: a list written by hand.
std::vector<Fabric> all_fabrics(std::uint64_t seed);

// The fabrics of the conduits, from conduits/<name>/tests/fabric.cpp.
std::vector<Fabric> loop_fabrics(std::uint64_t seed);
std::vector<Fabric> sim_fabrics(std::uint64_t seed);
std::vector<Fabric> smp_fabrics();
std::vector<Fabric> udp_fabrics();
std::vector<Fabric> udp_fabrics_over_hosts();
std::vector<Fabric> ofi_fabrics();
std::vector<Fabric> ucx_fabrics();
std::vector<Fabric> ibv_fabrics();

}  // namespace aqueduct::conformance
