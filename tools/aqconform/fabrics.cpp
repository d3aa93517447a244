#include "tools/aqconform/fabrics.hpp"

#include "conduits/registry.hpp"

namespace aqueduct::conformance {

namespace {

/// Whether the fabric's conduit is missing in this build.
bool not_built(const Fabric& fabric) { return conduits::find(fabric.conduit) == nullptr; }

}  // namespace

std::vector<Fabric> all_fabrics(std::uint64_t seed) {
  std::vector<Fabric> all = loop_fabrics(seed);
  for (Fabric& fabric : sim_fabrics(seed)) all.push_back(std::move(fabric));
  for (Fabric& fabric : smp_fabrics()) all.push_back(std::move(fabric));
  for (Fabric& fabric : udp_fabrics()) all.push_back(std::move(fabric));
  for (Fabric& fabric : udp_fabrics_over_hosts()) all.push_back(std::move(fabric));
  for (Fabric& fabric : ucx_fabrics()) all.push_back(std::move(fabric));
  for (Fabric& fabric : ofi_fabrics()) all.push_back(std::move(fabric));
  for (Fabric& fabric : ibv_fabrics()) all.push_back(std::move(fabric));
  std::erase_if(all, not_built);
  return all;
}

}  // namespace aqueduct::conformance
