// Network namespaces of this machine as hosts. As for users, smp serves ranks of one host and udp the others.

#include "tests/conformance/hosts.hpp"
#include "tools/aqconform/fabrics.hpp"

namespace aqueduct::conformance {

std::vector<Fabric> udp_fabrics_over_hosts() {
  const auto fabric = [](const char* name, std::uint32_t (*host_of)(std::uint32_t process),
                         Settings settings = {}, Weather weather = {}) {
    return over_hosts({.name = name, .conduit = "udp", .settings = std::move(settings)}, host_of,
                      std::move(weather));
  };
  const auto alternating = [](std::uint32_t process) { return process % 2; };
  const auto pairs = [](std::uint32_t process) { return process / 2; };
  const auto alone = [](std::uint32_t process) { return process; };
  return {
      // Two hosts, with ranks in turn on either: even a job of two ranks uses both.
      fabric("udp-hosts", alternating),
      fabric("udp-hosts-of-two", pairs),
      fabric("udp-hosts-alone", alone, {{"near", "off"}}),
      fabric("udp-hosts-encrypted", alternating, {{"udp_security", "full"}}),
      fabric("udp-hosts-ipv6", alternating, {{"udp_family", "ipv6"}}),
      fabric("udp-hosts-lossy", alternating, {}, {.lost_per_mille = 10}),
      fabric("udp-hosts-netem", alternating, {},
             {.netem = "delay 1ms 0.5ms loss 1% duplicate 5% corrupt 1% reorder 25%"}),
  };
}

}  // namespace aqueduct::conformance
