#include "conduits/registry.hpp"
#include "tools/aqconform/fabrics.hpp"

namespace aqueduct::conformance {
namespace {

/// Whether ibv can use this machine with that many rails, and `why` not.
std::string probe(const Settings& settings, std::string& why) {
  const conduits::Available* const ibv = conduits::find("ibv");
  if (ibv == nullptr || ibv->entry == nullptr) {
    why = "this build has no ibv";
    return {};
  }
  Config config;
  for (const auto& [name, value] : settings) {
    if (!config.set(name, value)) why = name + " is no setting here";
  }
  const core::Usability found = ibv->entry->probe(config);
  if (!found.usable) why = found.why;
  return found.why;
}

}  // namespace

std::vector<Fabric> ibv_fabrics() {
  const auto fabric = [](const char* name, Rank processes, Settings settings = {}) {
    settings.insert(settings.begin(), {"near", "off"});
    Fabric made{.name = name, .conduit = "ibv", .settings = std::move(settings), .processes = processes};
    made.has_atomics = true;
    // Skipped on machines without an InfiniBand or RoCE device.
    made.prepare = [] {
      std::string why;
      static_cast<void>(probe({}, why));
      return why;
    };
    return made;
  };
  // Beside smp: hosts in name only, with two consecutive ranks on each.
  Fabric hosts = fabric("ibv-hosts", 0);
  hosts.settings = {};
  hosts.enter = [](std::uint32_t process) {
    return Settings{{"host_id", "host" + std::to_string(process % 2)}};
  };
  // The shares are so small that most of the kit's transfers are striped over two ports.
  const Settings two{{"ibv_rails", "2"}, {"ibv_rail_bytes", "4096"}};
  Fabric rails = fabric("ibv-rails", 0, two);
  rails.prepare = [two] {
    std::string why;
    const std::string found = probe(two, why);
    const bool several = found.find("large transfers also by") != std::string::npos;
    return why.empty() && !several ? "one port only that is as fast as the fastest: " + found : why;
  };
  // A software device (siw), which `./aq rdma` has in its virtual machine.
  const Settings siw{{"ibv_device", "siw0"}};
  Fabric iwarp = fabric("ibv-iwarp", 0, siw);
  iwarp.has_atomics = false;
  iwarp.prepare = [siw] {
    std::string why;
    static_cast<void>(probe(siw, why));
    return why;
  };
  return {
      rails,
      iwarp,
      fabric("ibv-threads", 1),
      fabric("ibv-processes", 0),
      fabric("ibv-mixed", 2),
      hosts,
      // As on a device with small limits: no shared receive queue, short queues, no inline data, and hardly any local
      // memory that may be pinned.
      fabric("ibv-cramped", 0,
             {{"ibv_shared_receive_queue", "off"},
              {"ibv_credits", "2"},
              {"ibv_queue", "16"},
              {"ibv_depth", "8"},
              {"ibv_inline", "0"},
              {"ibv_packet", "512"},
              {"ibv_pinned", "1M"}}),
  };
}

}  // namespace aqueduct::conformance
