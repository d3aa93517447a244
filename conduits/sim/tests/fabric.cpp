#include "tools/aqconform/fabrics.hpp"

namespace aqueduct::conformance {

namespace {

Fabric plain(const char* name, Settings settings = {}) {
  settings.push_back({"near", "off"});
  Fabric fabric{.name = name, .conduit = "sim", .settings = std::move(settings)};
  fabric.stores_once = true;
  fabric.virtual_time = true;
  return fabric;
}

}  // namespace

std::vector<Fabric> sim_fabrics(std::uint64_t seed) {
  return {
      plain("sim-threads"),
      // Messages overtake each other, get lost and are sent again, and few may be under way.
      plain("sim-lossy", {{"sim_loss", "20000"},
                          {"sim_jitter", "5us"},
                          {"sim_queue", "8"},
                          {"sim_packet", "256"},
                          {"sim_seed", std::to_string(seed % 1'000'000'000)}}),
  };
}

}  // namespace aqueduct::conformance
