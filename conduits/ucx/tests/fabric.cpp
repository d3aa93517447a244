#include "conduits/registry.hpp"
#include "tests/conformance/hosts.hpp"
#include "tests/conformance/rdma_device.hpp"
#include "tools/aqconform/fabrics.hpp"

#include <algorithm>

namespace aqueduct::conformance {

std::vector<Fabric> ucx_fabrics() {
  const auto fabric = [](const char* name, Rank processes, const char* transports, Settings settings = {}) {
    settings.insert(settings.begin(), {{"near", "off"}, {"ucx_transports", transports}});
    Fabric made{.name = name,
                .conduit = "ucx",
                .settings = std::move(settings),
                .processes = processes,
                .serves_aside = true};
    // UCX itself ends the program, see docs/conduits/ucx.md.
    const bool network_puts =
        std::ranges::count(made.settings, Settings::value_type{"ucx_put", "network"}) != 0;
    made.outlived = transports == std::string("tcp,self") && !network_puts ? Fabric::Outlived::all_but_gets
                                                                           : Fabric::Outlived::little;
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
  const auto hidden = [](Fabric one) {
    one.hidden = true;
    return one;
  };
  const auto on_card = [](Fabric one) {
    one.prepare = [usable = one.prepare] {
      std::string why = why_no_rdma_device();
      return why.empty() ? usable() : why;
    };
    return one;
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
      // Skipped without an InfiniBand or RoCE device. On a software device UCX takes milliseconds for a datagram, and the kit
      // minutes for a case, so ucx-ud runs only when it is named.
      on_card(fabric("ucx-rc", 0, "rc_v,self")),
      hidden(on_card(fabric("ucx-ud", 0, "ud_v,self"))),
      // Beside smp, over two hosts, with consecutive ranks on different hosts; and without smp.
      over_hosts({.name = "ucx-hosts", .conduit = "ucx", .settings = {}},
                 [](std::uint32_t process) { return process % 2; }),
      over_hosts({.name = "ucx-hosts-alone", .conduit = "ucx", .settings = {{"near", "off"}}},
                 [](std::uint32_t process) { return process; }),
      // Shared memory by messages only, as with segments that UCX did not allocate.
      fabric("ucx-unmapped", 0, "all", {{"ucx_map", "off"}}),
      fabric("ucx-unmapped-threads", 1, "all", {{"ucx_map", "off"}}),
      // As on a network with its own puts: shared flushes.
      fabric("ucx-network-puts", 0, "tcp,self", {{"ucx_put", "network"}}),
      fabric("ucx-network-puts-threads", 1, "all", {{"ucx_put", "network"}, {"ucx_map", "off"}}),
      // Small limits, so that nearly every post has to wait for room.
      fabric("ucx-cramped", 0, "tcp,self",
             {{"ucx_packet", "1K"}, {"ucx_packets", "16"}, {"ucx_operations", "16"}}),
  };
}

}  // namespace aqueduct::conformance
