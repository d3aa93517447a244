#include "conduits/registry.hpp"
#include "tests/conformance/fabric.hpp"

#include <algorithm>
#include <sstream>

namespace aqueduct::conformance {

std::vector<Fabric> plain_fabrics(const std::string& name, const std::string& conduit) {
  return {{.name = name + "-threads", .conduit = conduit, .settings = {{"near", "off"}}, .processes = 1},
          {.name = name + "-processes", .conduit = conduit, .settings = {{"near", "off"}}, .processes = 0},
          {.name = name + "-mixed", .conduit = conduit, .settings = {{"near", "off"}}, .processes = 2}};
}

Result<std::unique_ptr<core::Network>> make_network(const Fabric& fabric, const core::Process& process) {
  if (fabric.network) return fabric.network(process);
  const conduits::Available* found = conduits::find(fabric.conduit);
  if (found == nullptr || found->entry == nullptr) return ErrorCode::not_supported;
  return found->entry->make(process);
}

namespace {

/// Whether one of the comma-separated parts occurs in the fabric's name; a hidden fabric needs its whole name.
bool named(const Fabric& fabric, const std::string& parts) {
  if (parts.empty()) return !fabric.hidden;
  std::istringstream list(parts);
  for (std::string part; std::getline(list, part, ',');) {
    if (part.empty()) continue;  // every name contains it
    if (fabric.hidden ? fabric.name == part : fabric.name.find(part) != std::string::npos) return true;
  }
  return false;
}

/// Leaves the fabrics whose ranks a launcher can start: those of a process each, where the kit does nothing for the
/// processes. Adds one for each of their conduits, as users run it: no settings, and smp for the ranks of a host.
void leave_what_launchers_start(std::vector<Fabric>& found) {
  std::erase_if(found, [](const Fabric& fabric) {
    return !fabric.process_each() || fabric.enter != nullptr || fabric.network != nullptr;
  });
  std::vector<Fabric> plain;
  for (const Fabric& fabric : found) {
    if (std::ranges::any_of(plain, [&](const Fabric& other) { return other.conduit == fabric.conduit; }))
      continue;
    plain.push_back({.name = fabric.name.substr(0, fabric.name.find('-')) + "-launched",
                     .conduit = fabric.conduit,
                     .settings = {},
                     .processes = 0,
                     .prepare = fabric.prepare});
  }
  found.insert(found.end(), plain.begin(), plain.end());
}

}  // namespace

std::vector<Fabric> select(const Selection& selection) {
  std::vector<Fabric> found;
  if (!selection.plugin.empty()) {
    found = plain_fabrics("plugin", selection.plugin);
  } else {
    if (selection.all != nullptr) found = selection.all(selection.seed);
    const auto other = [&](const Fabric& fabric) { return fabric.conduit != selection.conduit; };
    if (!selection.conduit.empty()) {
      std::erase_if(found, other);
      // The list has no fabrics for it: a plug-in found in a folder.
      if (found.empty()) found = plain_fabrics(selection.conduit, selection.conduit);
    }
  }
  if (selection.launches()) leave_what_launchers_start(found);
  std::erase_if(found, [&](const Fabric& fabric) { return !named(fabric, selection.fabric); });
  for (Fabric& fabric : found) {
    // An explicit --ranks above 8 also raises the limit.
    fabric.most_ranks =
        selection.most_ranks > 8 ? selection.most_ranks : std::min(fabric.most_ranks, selection.most_ranks);
    fabric.seed = selection.seed;
    fabric.limit = selection.limit;
    fabric.thorough = selection.thorough;
    fabric.brief = selection.brief;
    fabric.launcher = selection.launcher;
  }
  return found;
}

Selection& program_selection() {
  static Selection selection;
  return selection;
}

std::vector<Fabric> fabrics() { return select(program_selection()); }

}  // namespace aqueduct::conformance
