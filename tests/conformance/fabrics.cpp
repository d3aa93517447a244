#include "conduits/all.hpp"
#include "tests/conformance/fabric.hpp"

#include <algorithm>
#include <sstream>

namespace aqueduct::conformance {

namespace {

/// Whether the fabric's conduit is missing in this build.
bool not_built(const Fabric& fabric) { return conduits::find(fabric.conduit) == nullptr; }

}  // namespace

std::vector<Fabric> all_fabrics(std::uint64_t seed) {
  std::vector<Fabric> all = loop_fabrics(seed);
  for (Fabric& fabric : smp_fabrics()) all.push_back(std::move(fabric));
  for (Fabric& fabric : udp_fabrics()) all.push_back(std::move(fabric));
  for (Fabric& fabric : udp_fabrics_over_hosts()) all.push_back(std::move(fabric));
  for (Fabric& fabric : ucx_fabrics()) all.push_back(std::move(fabric));
  for (Fabric& fabric : ofi_fabrics()) all.push_back(std::move(fabric));
  for (Fabric& fabric : ibv_fabrics()) all.push_back(std::move(fabric));
  std::erase_if(all, not_built);
  return all;
}

std::vector<Fabric> plain_fabrics(const std::string& name, const std::string& conduit) {
  return {{.name = name + "-threads", .conduit = conduit, .settings = {{"near", "off"}}, .processes = 1},
          {.name = name + "-processes", .conduit = conduit, .settings = {{"near", "off"}}, .processes = 0},
          {.name = name + "-mixed", .conduit = conduit, .settings = {{"near", "off"}}, .processes = 2}};
}

namespace {

/// Whether one of the comma-separated parts occurs in the fabric's name; a hidden fabric needs its whole name.
bool named(const Fabric& fabric, const std::string& parts) {
  if (parts.empty()) return !fabric.hidden;
  std::istringstream list(parts);
  for (std::string part; std::getline(list, part, ',');) {
    if (fabric.hidden ? fabric.name == part : fabric.name.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::vector<Fabric> select(const Selection& selection) {
  std::vector<Fabric> found;
  if (!selection.plugin.empty()) {
    found = plain_fabrics("plugin", selection.plugin);
  } else {
    found = all_fabrics(selection.seed);
    const auto other = [&](const Fabric& fabric) { return fabric.conduit != selection.conduit; };
    if (!selection.conduit.empty()) {
      std::erase_if(found, other);
      // The kit has no fabrics for it: a plug-in found in a folder.
      if (found.empty()) found = plain_fabrics(selection.conduit, selection.conduit);
    }
  }
  std::erase_if(found, [&](const Fabric& fabric) { return !named(fabric, selection.fabric); });
  for (Fabric& fabric : found) {
    // An explicit --ranks above 8 also raises the limit.
    fabric.most_ranks =
        selection.most_ranks > 8 ? selection.most_ranks : std::min(fabric.most_ranks, selection.most_ranks);
    fabric.seed = selection.seed;
    fabric.limit = selection.limit;
    fabric.thorough = selection.thorough;
  }
  return found;
}

Selection& program_selection() {
  static Selection selection;
  return selection;
}

std::vector<Fabric> fabrics() { return select(program_selection()); }

}  // namespace aqueduct::conformance
