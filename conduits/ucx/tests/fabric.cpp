#include "tests/conformance/fabric.hpp"

#include "conduits/all.hpp"

namespace aqueduct::conformance {

std::vector<Fabric> ucx_fabrics() {
  const auto fabric = [](const char* name, Rank processes, const char* transports, Settings settings = {}) {
    settings.insert(settings.begin(), {{"near", "off"}, {"ucx_transports", transports}});
    Fabric made{.name = name, .conduit = "ucx", .settings = std::move(settings), .processes = processes};
    made.prepare = [transports] {
      Config config;
      if (!config.set("ucx_transports", transports)) return std::string("the setting is refused");
      const conduits::Available* const ucx = conduits::find("ucx");
      if (ucx == nullptr || ucx->entry == nullptr) return std::string("this build has no ucx");
      const core::Usability found = ucx->entry->probe(config);
      return found.usable ? std::string() : found.why;
    };
    return made;
  };
  return {
      fabric("ucx-threads", 1, "all"),
      fabric("ucx-processes", 0, "all"),
      fabric("ucx-mixed", 2, "all"),
      fabric("ucx-tcp-threads", 1, "tcp,self"),
      fabric("ucx-tcp", 0, "tcp,self"),
      fabric("ucx-posix", 0, "posix,self"),
      fabric("ucx-posix-cma", 0, "posix,cma,self"),
      fabric("ucx-sysv", 0, "sysv,self"),
      // Skipped where there is no InfiniBand or RoCE device.
      fabric("ucx-rc", 0, "rc_v,self"),
      fabric("ucx-ud", 0, "ud_v,self"),
      // As on a network that has puts: gathered flushes.
      fabric("ucx-network-puts", 0, "tcp,self", {{"ucx_put", "network"}}),
      fabric("ucx-network-puts-threads", 1, "all", {{"ucx_put", "network"}}),
      // Few of everything, so that nearly each post has to wait for room.
      fabric("ucx-cramped", 0, "tcp,self",
             {{"ucx_packet", "1K"}, {"ucx_packets", "16"}, {"ucx_operations", "16"}}),
  };
}

}  // namespace aqueduct::conformance
