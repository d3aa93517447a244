#include "tools/aqconform/fabrics.hpp"

#include <string>
#include <string_view>

namespace aqueduct::conformance {

namespace {

/// Hosts in name only, beside smp: one for each letter of `hosts`, where the process of that number is. For what goes by hosts;
/// whatever else is the same everywhere.
Fabric pretended_hosts(const char* name, std::string_view hosts) {
  Fabric made{.name = name, .conduit = "udp", .settings = {}, .processes = 0};
  made.enter = [hosts](std::uint32_t process) {
    return Settings{{"host_id", std::string("host-") + hosts[process % hosts.size()]}};
  };
  made.hidden = true;
  return made;
}

}  // namespace

std::vector<Fabric> udp_fabrics() {
  const auto fabric = [](const char* name, Rank processes, Settings settings = {}) {
    settings.insert(settings.begin(), {"near", "off"});
    return Fabric{.name = name,
                  .conduit = "udp",
                  .settings = std::move(settings),
                  .processes = processes,
                  .serves_aside = true,
                  .stores_once = true};
  };
  const auto faulty = [&](const char* name, const char* faults, Settings more = {}) {
    more.emplace_back("udp_faults", faults);
    return fabric(name, 0, std::move(more));
  };
  // The case steps through a put instruction by instruction. To decrypt a path MTU probe of 64 KiB that way takes
  // seconds, and the peer would be lost. udp-all-faults-encrypted, where no such packets arrive, has the case.
  Fabric encrypted = fabric("udp-encrypted", 0, {{"udp_security", "full"}});
  encrypted.stores_once = false;
  return {
      fabric("udp-threads", 1),
      fabric("udp-processes", 0),
      fabric("udp-mixed", 2),
      fabric("udp-multiple", 1, {{"threads", "multiple"}}),
      encrypted,
      fabric("udp-trusting", 0, {{"udp_security", "none"}}),
      // A system without offloads, on a path with the smallest packets: every message is fragmented.
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
      pretended_hosts("udp-hosts-in-rows", "aabcccdd"),
      pretended_hosts("udp-hosts-in-turns", "abacbacb"),
  };
}

}  // namespace aqueduct::conformance
