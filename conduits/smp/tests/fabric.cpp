#include "tests/conformance/fabric.hpp"

namespace aqueduct::conformance {

std::vector<Fabric> smp_fabrics() {
  const auto fabric = [](const char* name, Rank processes, Settings settings = {}) {
    return Fabric{.name = name, .conduit = "smp", .settings = std::move(settings), .processes = processes};
  };
  return {
      fabric("smp-threads", 1),
      fabric("smp-processes", 0),
      fabric("smp-mixed", 2),
      fabric("smp-without-cma", 0, {{"smp_cma", "off"}}),
      fabric("smp-posix", 0, {{"smp_memory", "posix"}}),
  };
}

}  // namespace aqueduct::conformance
