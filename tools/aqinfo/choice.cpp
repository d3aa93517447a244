#include "tools/aqinfo/choice.hpp"

#include <fmt/core.h>

namespace aqueduct::aqinfo {
namespace {

bool is_plugin(std::string_view conduit) { return conduit.find('/') != std::string_view::npos; }

const ConduitFacts* find(std::span<const ConduitFacts> conduits, std::string_view name) {
  for (const ConduitFacts& facts : conduits) {
    if (facts.name == name) return &facts;
  }
  return nullptr;
}

/// The first usable conduit, in order of preference, that crosses hosts or does not.
const ConduitFacts* first(std::span<const ConduitFacts> conduits, bool crosses_hosts) {
  for (const ConduitFacts& facts : conduits) {
    if (facts.usability.usable && facts.crosses_hosts == crosses_hosts) return &facts;
  }
  return nullptr;
}

/// What the setting names, if it names one that exists.
Choice named(const ConduitFacts& facts) {
  const std::string setting = fmt::format("AQUEDUCT_CONDUIT={}", facts.name);
  if (!facts.usability.usable) return {"", fmt::format("{}, but {}", setting, facts.usability.why)};
  return {facts.name, setting};
}

Choice plugin(std::string_view path) {
  return {std::string(path), "a plug-in, loaded when a job starts; aqconform --plugin tries it"};
}

}  // namespace

Choice choose_near(const Config& config, std::span<const ConduitFacts> conduits) {
  const std::string wanted = config.text("conduit");
  const ConduitFacts* const asked = find(conduits, wanted);
  // A conduit that stays on a host is asked for as the near one.
  if (asked != nullptr && !asked->crosses_hosts) return named(*asked);
  if (config.flag("near")) {
    if (const ConduitFacts* best = first(conduits, false)) {
      return {best->name, "AQUEDUCT_NEAR=on; the first usable conduit for ranks of one host"};
    }
  }
  if (is_plugin(wanted)) return plugin(wanted);
  Choice far = choose_far(config, conduits);
  const std::string_view why =
      config.flag("near") ? "no conduit for ranks of one host is usable here" : "AQUEDUCT_NEAR=off";
  const std::string instead = far.conduit.empty() ? far.why : "the far conduit serves them";
  return {far.conduit, fmt::format("{}; {}", why, instead)};
}

Choice choose_far(const Config& config, std::span<const ConduitFacts> conduits) {
  const std::string wanted = config.text("conduit");
  if (is_plugin(wanted)) return plugin(wanted);
  if (const ConduitFacts* asked = find(conduits, wanted)) {
    if (asked->crosses_hosts) return named(*asked);
    return {"", fmt::format("AQUEDUCT_CONDUIT={} does not cross hosts: a job stays on this one", wanted)};
  }
  if (const ConduitFacts* best = first(conduits, true)) {
    return {best->name, "AQUEDUCT_CONDUIT=auto; the first usable conduit that crosses hosts"};
  }
  return {"", "no usable conduit crosses hosts: a job stays on this one"};
}

}  // namespace aqueduct::aqinfo
