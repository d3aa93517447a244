#pragma once

#include "tests/conformance/fabric.hpp"

namespace aqueduct::conformance {

/// How many hosts there are at the most: network namespaces of this machine, made when a case first asks for
/// them and removed at the end of the run.
inline constexpr std::uint32_t kMostHosts = 8;

/// The same fabric, a process for each rank, with process `i` on host `host_of(i)` modulo kMostHosts. Its cases
/// are skipped where the user or the machine cannot have such hosts.
Fabric over_hosts(Fabric fabric, std::function<std::uint32_t(std::uint32_t process)> host_of);

}  // namespace aqueduct::conformance
