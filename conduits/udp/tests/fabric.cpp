#include "tests/conformance/fabric.hpp"

namespace aqueduct::conformance {

std::vector<Fabric> udp_fabrics() {
  const auto fabric = [](const char* name, Rank processes, Settings settings = {}) {
    const bool plain =
        settings
            .empty();  // over udp-encrypted the stepped peer was taken for lost after 5 s; not explained yet
    settings.insert(settings.begin(), {"near", "off"});
    return Fabric{.name = name,
                  .conduit = "udp",
                  .settings = std::move(settings),
                  .processes = processes,
                  .serves_aside = true,
                  .stores_once = plain};
  };
  const auto faulty = [&](const char* name, const char* faults, Settings more = {}) {
    more.emplace_back("udp_faults", faults);
    return fabric(name, 0, std::move(more));
  };
  return {
      fabric("udp-threads", 1),
      fabric("udp-processes", 0),
      fabric("udp-mixed", 2),
      fabric("udp-encrypted", 0, {{"udp_security", "full"}}),
      fabric("udp-trusting", 0, {{"udp_security", "none"}}),
      // As a system without offloads has it, on a path of the smallest packets: every message is cut.
      fabric("udp-plainest", 0, {{"udp_offload", "off"}, {"udp_packet", "576"}}),
      fabric("udp-ipv6", 0, {{"udp_family", "ipv6"}}),
      faulty("udp-loss-thousandth", "loss=0.1%"),
      faulty("udp-loss-hundredth", "loss=1%"),
      faulty("udp-loss-tenth", "loss=10%"),
      faulty("udp-delay", "delay=1ms,jitter=0.5ms"),
      faulty("udp-reorder", "reorder=25%"),
      faulty("udp-duplicate", "duplicate=5%"),
      faulty("udp-corrupt", "corrupt=1%"),
      faulty("udp-all-faults", "loss=1%,delay=1ms,jitter=0.5ms,reorder=25%,duplicate=5%,corrupt=1%"),
      faulty("udp-all-faults-encrypted",
             "loss=1%,delay=1ms,jitter=0.5ms,reorder=25%,duplicate=5%,corrupt=1%,corrupt_bytes=65536",
             {{"udp_security", "full"}}),
  };
}

}  // namespace aqueduct::conformance
