#include "tests/conformance/faults/with_faults.hpp"

#include "tests/conformance/faults/faulty.hpp"

namespace aqueduct::conformance {

Fabric with_faults(Fabric fabric, const FaultPlan& plan) {
  Fabric faulty = fabric;
  faulty.network = [inner = std::move(fabric),
                    plan](const core::Process& process) -> Result<std::unique_ptr<core::Network>> {
    auto network = make_network(inner, process);
    if (!network) return network.status();
    return std::unique_ptr<core::Network>(
        std::make_unique<FaultyNetwork>(std::move(*network), process.ranks, plan));
  };
  return faulty;
}

}  // namespace aqueduct::conformance
