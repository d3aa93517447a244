#include "tests/conformance/fabric.hpp"

namespace aqueduct::conformance {

std::vector<Fabric> ofi_fabrics() {
  const auto fabric = [](const char* name, const char* provider, Rank processes, Settings settings = {}) {
    settings.insert(settings.begin(), {{"near", "off"}, {"ofi_provider", provider}});
    return Fabric{.name = name, .conduit = "ofi", .settings = std::move(settings), .processes = processes};
  };
  // Its own threads need the cores that ranks would look on: few ranks, which sleep at once.
  Fabric sockets =
      fabric("ofi-sockets-processes", "sockets", 0, {{"ofi_sleep", "on"}, {"spin", "0"}, {"yield", "0"}});
  sockets.most_ranks = 3;
  return {
      fabric("ofi-tcp-threads", "tcp;ofi_rxm", 1),
      fabric("ofi-tcp-processes", "tcp;ofi_rxm", 0),
      fabric("ofi-tcp-mixed", "tcp;ofi_rxm", 2),
      // As a provider has it that wants every local buffer registered, and small queues.
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
  };
}

}  // namespace aqueduct::conformance
