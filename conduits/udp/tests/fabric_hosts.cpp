// Over hosts that are network namespaces of this machine: what users have, smp inside a host and udp between.

#include "tests/conformance/hosts.hpp"

namespace aqueduct::conformance {

std::vector<Fabric> udp_fabrics_over_hosts() {
  const auto fabric = [](const char* name, std::uint32_t (*host_of)(std::uint32_t process),
                         Settings settings = {}) {
    return over_hosts({.name = name, .conduit = "udp", .settings = std::move(settings)}, host_of);
  };
  const auto alternating = [](std::uint32_t process) { return process % 2; };
  const auto pairs = [](std::uint32_t process) { return process / 2; };
  const auto alone = [](std::uint32_t process) { return process; };
  return {
      // Two hosts, which any two ranks that follow one another are on: even a job of two has both.
      fabric("udp-hosts", alternating),
      fabric("udp-hosts-of-two", pairs),
      fabric("udp-hosts-alone", alone, {{"near", "off"}}),
      fabric("udp-hosts-encrypted", alternating, {{"udp_security", "full"}}),
      fabric("udp-hosts-ipv6", alternating, {{"udp_family", "ipv6"}}),
  };
}

}  // namespace aqueduct::conformance
