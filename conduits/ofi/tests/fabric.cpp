#include "conduits/registry.hpp"
#include "tests/conformance/hosts.hpp"
#include "tests/conformance/rdma_device.hpp"
#include "tools/aqconform/fabrics.hpp"

namespace aqueduct::conformance {
namespace {

/// Loads and probes libfabric before the ranks are forked, because it takes 0.4 s that every rank of every case would spend:
/// its libraries calibrate clocks as they are loaded, and its first query reads /proc/kallsyms twice. The ranks report problems.
std::string load_before_ranks() {
  static const bool loaded = [] {
    const conduits::Available* const ofi = conduits::find("ofi");
    return ofi != nullptr && ofi->entry != nullptr && ofi->entry->probe(Config()).usable;
  }();
  static_cast<void>(loaded);
  return {};
}

}  // namespace

std::vector<Fabric> ofi_fabrics() {
  const auto fabric = [](const char* name, const char* provider, Rank processes, Settings settings = {}) {
    settings.insert(settings.begin(), {{"near", "off"}, {"ofi_provider", provider}});
    Fabric made{.name = name, .conduit = "ofi", .settings = std::move(settings), .processes = processes};
    made.has_atomics = provider == std::string("tcp;ofi_rxm") || provider == std::string("sockets");
    if (provider == std::string("tcp;ofi_rxm")) made.prepare = load_before_ranks;
    return made;
  };
  const auto verbs = [&](const char* name, Rank processes) {
    Fabric made = fabric(name, "verbs;ofi_rxm", processes);
    made.prepare = why_no_rdma_device;
    return made;
  };
  const auto over_tcp = [](const char* name, Settings settings, std::uint32_t (*host_of)(std::uint32_t)) {
    settings.push_back({"ofi_provider", "tcp;ofi_rxm"});
    Fabric made = over_hosts({.name = name, .conduit = "ofi", .settings = std::move(settings)}, host_of);
    made.has_atomics = true;
    return made;
  };
  // Its own threads need the cores on which ranks would poll: few ranks, which sleep at once.
  Fabric sockets =
      fabric("ofi-sockets-processes", "sockets", 0, {{"ofi_sleep", "on"}, {"spin", "0"}, {"yield", "0"}});
  sockets.most_ranks = 3;
  return {
      fabric("ofi-tcp-threads", "tcp;ofi_rxm", 1),
      fabric("ofi-tcp-processes", "tcp;ofi_rxm", 0),
      fabric("ofi-tcp-mixed", "tcp;ofi_rxm", 2),
      // Behaves like a provider that wants every local buffer registered, and has small queues.
      fabric("ofi-tcp-registering", "tcp;ofi_rxm", 0,
             {{"ofi_register_local", "on"}, {"ofi_queue", "8"}, {"ofi_packet", "512"}}),
      fabric("ofi-tcp-auto", "tcp;ofi_rxm", 0, {{"ofi_progress", "auto"}}),
      fabric("ofi-net-threads", "net", 1),
      fabric("ofi-net-processes", "net", 0),
      fabric("ofi-rxd-threads", "udp;ofi_rxd", 1),
      fabric("ofi-rxd-processes", "udp;ofi_rxd", 0),
      fabric("ofi-shm-threads", "shm", 1),
      fabric("ofi-shm-processes", "shm", 0),
      sockets,
      // Beside smp, over two hosts, with consecutive ranks on different hosts; and without smp.
      over_tcp("ofi-hosts", {}, [](std::uint32_t process) { return process % 2; }),
      over_tcp("ofi-hosts-alone", {{"near", "off"}}, [](std::uint32_t process) { return process; }),
      over_hosts({.name = "ofi-net-hosts-alone",
                  .conduit = "ofi",
                  .settings = {{"near", "off"}, {"ofi_provider", "net"}}},
                 [](std::uint32_t process) { return process; }),
      verbs("ofi-verbs", 0),
      verbs("ofi-verbs-threads", 1),
  };
}

}  // namespace aqueduct::conformance
