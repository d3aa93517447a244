#pragma once

#include "tests/conformance/fabric.hpp"

namespace aqueduct::conformance {

/// How many hosts there are at the most: network namespaces of this machine, made when a case first asks for
/// them and removed at the end of the run.
inline constexpr std::uint32_t kMostHosts = 8;

/// What the cables between the hosts do to packets, by the kernel's own means.
struct Weather {
  unsigned lost_per_mille = 0;  ///< nftables drops so many that arrive
  std::string netem{};          ///< what netem does besides, in words of tc(8); empty: nothing

  bool operator==(const Weather&) const = default;
};

/// The same fabric, a process for each rank, with process `i` on host `host_of(i)` modulo kMostHosts. Its cases
/// are skipped where the user or the machine cannot have such hosts, or such weather.
Fabric over_hosts(Fabric fabric, std::function<std::uint32_t(std::uint32_t process)> host_of,
                  Weather weather = {});

}  // namespace aqueduct::conformance
