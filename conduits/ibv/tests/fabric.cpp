#include "tests/conformance/fabric.hpp"

#include "conduits/all.hpp"

namespace aqueduct::conformance {

std::vector<Fabric> ibv_fabrics() {
  const auto fabric = [](const char* name, Rank processes, Settings settings = {}) {
    settings.insert(settings.begin(), {"near", "off"});
    Fabric made{.name = name, .conduit = "ibv", .settings = std::move(settings), .processes = processes};
    // Skipped where there is no InfiniBand or RoCE device.
    made.prepare = [] {
      const conduits::Available* const ibv = conduits::find("ibv");
      if (ibv == nullptr || ibv->entry == nullptr) return std::string("this build has no ibv");
      const core::Usability found = ibv->entry->probe(Config());
      return found.usable ? std::string() : found.why;
    };
    return made;
  };
  // Beside smp: hosts in name only, which any two ranks that follow one another are on.
  Fabric hosts = fabric("ibv-hosts", 0);
  hosts.settings = {};
  hosts.enter = [](std::uint32_t process) {
    return Settings{{"host_id", "host" + std::to_string(process % 2)}};
  };
  return {
      fabric("ibv-threads", 1),
      fabric("ibv-processes", 0),
      fabric("ibv-mixed", 2),
      hosts,
      // As on a device that has little: no shared receives, few of everything, nothing inside a work request, and of local
      // memory hardly any that may be pinned.
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
