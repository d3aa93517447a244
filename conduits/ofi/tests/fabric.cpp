#include "tests/conformance/fabric.hpp"

namespace aqueduct::conformance {

std::vector<Fabric> ofi_fabrics() {
  const auto fabric = [](const char* name, const char* provider, Rank processes, Settings settings = {}) {
    settings.insert(settings.begin(), {{"near", "off"}, {"ofi_provider", provider}});
    return Fabric{.name = name, .conduit = "ofi", .settings = std::move(settings), .processes = processes};
  };
  return {
      fabric("ofi-tcp-threads", "tcp;ofi_rxm", 1),
      fabric("ofi-tcp-processes", "tcp;ofi_rxm", 0),
      fabric("ofi-tcp-mixed", "tcp;ofi_rxm", 2),
  };
}

}  // namespace aqueduct::conformance
