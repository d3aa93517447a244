#include "tools/aqconform/fabrics.hpp"

namespace aqueduct::conformance {

std::vector<Fabric> smp_fabrics() {
  const auto fabric = [](const char* name, Rank processes, Settings settings = {}) {
    return Fabric{.name = name,
                  .conduit = "smp",
                  .settings = std::move(settings),
                  .processes = processes,
                  .serves_aside = true,
                  .stores_once = true};
  };
  return {
      fabric("smp-threads", 1),
      fabric("smp-processes", 0),
#ifndef __SANITIZE_THREAD__  // TSan does not see that another process orders two threads
      fabric("smp-mixed", 2),
#endif
      fabric("smp-without-cma", 0, {{"smp_cma", "off"}}),
      // Rings of one slot, and waits that sleep at once: this covers every path that waits for room.
      fabric("smp-cramped", 0, {{"smp_slots", "1"}, {"spin", "0"}, {"yield", "0"}}),
      fabric("smp-posix", 0, {{"smp_memory", "posix"}}),
      fabric("smp-multiple", 1, {{"threads", "multiple"}}),
  };
}

}  // namespace aqueduct::conformance
