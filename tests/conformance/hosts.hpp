#pragma once

#include "tests/conformance/fabric.hpp"

namespace aqueduct::conformance {

/// The largest number of hosts. They are network namespaces of this machine, made when a case first
/// needs them, and removed at the end of the run.
inline constexpr std::uint32_t kMostHosts = 8;

/// The faults of the cables between hosts, made by the kernel.
struct Weather {
  unsigned lost_per_mille = 0;  ///< how many of a thousand arriving packets nftables drops
  std::string netem{};          ///< faults by netem, in the words of tc(8); empty: none

  bool operator==(const Weather&) const = default;
};

/// The same fabric with one process per rank, and process `i` on host `host_of(i)` modulo kMostHosts. Its cases are
/// skipped if the user or the machine cannot have such hosts or such faults.
Fabric over_hosts(Fabric fabric, std::function<std::uint32_t(std::uint32_t process)> host_of,
                  Weather weather = {});

}  // namespace aqueduct::conformance
