#include <aqueduct/config.hpp>

#include "coll/tune/adding.hpp"
#include "coll/tune/coll_settings.hpp"
#include "coll/tune/tree_setting.hpp"
#include "conduits/builtin.hpp"
#include "conduits/registry.hpp"
#include "core/nearest_name.hpp"
#include "core/readable.hpp"
#include "core/setting_catalog.hpp"
#include "core/settings.hpp"
#include "runtime/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include <unistd.h>

// Which settings there are, and where their values come from. The values themselves are in core/config.cpp.

namespace aqueduct {
namespace {

constexpr std::string_view kPrefix = "AQUEDUCT_";
/// The prefix of variables that are not settings: the folders of plug-ins, and variables that plug-ins read themselves.
constexpr std::string_view kPluginPrefix = "AQUEDUCT_PLUGIN_";

/// Whether the variable says where Aqueduct is, not how it works. CMake (AQUEDUCT_ROOT), environment modules and package
/// managers set such variables, for any package in the same manner.
bool is_place(std::string_view variable) noexcept {
  constexpr std::string_view kPlaces[] = {
      "ROOT",          "DIR",      "HOME",        "BASE",        "PREFIX",       "PATH",
      "ROOT_DIR",      "HOME_DIR", "BASE_DIR",    "INSTALL",     "INSTALL_DIR",  "INSTALL_PREFIX",
      "VERSION",       "BIN",      "BIN_DIR",     "BINDIR",      "LIB",          "LIB_DIR",
      "LIBDIR",        "LIBRARY",  "LIBRARY_DIR", "LIBRARIES",   "LIBS",         "INC",
      "INC_DIR",       "INCDIR",   "INCLUDE",     "INCLUDE_DIR", "INCLUDE_DIRS", "INCLUDE_PATH",
      "LIBRARY_PATH",  "LIB_PATH", "SHARE",       "DOC",         "DOC_DIR",      "MAN_DIR",
      "PKGCONFIG_DIR", "CMAKE_DIR"};
  variable.remove_prefix(kPrefix.size());
  return std::ranges::find(kPlaces, variable) != std::end(kPlaces);
}

std::vector<SettingInfo> collect() {
  std::vector<SettingInfo> all = runtime::layer_settings();
  for (const core::ConduitEntry* conduit : conduits::builtin()) {
    all.insert(all.end(), conduit->settings.begin(), conduit->settings.end());
  }
  return all;
}

/// The settings of the library and of built-in conduits. Made
/// once and never changed, since they depend only on the build.
const std::vector<SettingInfo>& registry() {
  static const std::vector<SettingInfo> all = collect();
  return all;
}

/// The same, with the settings of the plug-ins in their folders. This loads the plug-ins, which takes time, so it is
/// called only for a setting that is not in the other list.
const std::vector<SettingInfo>& whole_registry() {
  static const std::vector<SettingInfo> all = [] {
    std::vector<SettingInfo> settings = registry();
    for (const conduits::Available& one : conduits::all()) {
      if (one.entry == nullptr || one.file.empty()) continue;
      settings.insert(settings.end(), one.entry->settings.begin(), one.entry->settings.end());
    }
    return settings;
  }();
  return all;
}

/// Checks the value of AQUEDUCT_CONDUIT, the only setting whose values depend on what was compiled in. Returns what is
/// wrong, or an empty string.
std::string unknown_conduit(const SettingInfo& info, std::string_view value) {
  if (value == "auto") return {};
  // This loads a plug-in named by its path, so that its settings are
  // known. An error of the plug-in is reported when a job uses it.
  if (conduits::find(value) != nullptr) return {};
  core::NearestName nearest = conduits::nearest(value);
  nearest.offer("auto");
  return fmt::format("{}={}: there is no such conduit; it may be auto, {} or the path of a plug-in{}",
                     info.environment, core::quoted(value), conduits::names(), nearest.hint());
}

/// Asks the conduit that has the setting to check the value. Returns what is wrong, or an empty string.
std::string conduits_objection(const SettingInfo& info, std::string_view value) {
  std::string problem;
  const auto asked = [&](const core::ConduitEntry* conduit) {
    if (conduit == nullptr) return false;
    const bool own =
        std::ranges::any_of(conduit->settings, [&](const auto& one) { return one.name == info.name; });
    if (own && conduit->check != nullptr) problem = conduit->check(info, value);
    return own;
  };
  if (std::ranges::any_of(conduits::builtin(), asked)) return problem;
  // Plug-ins are searched only if the setting may be one of theirs: the search loads them.
  if (std::ranges::any_of(registry(), [&](const auto& one) { return one.name == info.name; })) return {};
  const auto loaded = [&](const conduits::Available* one) { return asked(one->entry); };
  if (std::ranges::any_of(conduits::known_by_path(), loaded)) return problem;
  static_cast<void>(std::ranges::any_of(conduits::all(), [&](const auto& one) { return asked(one.entry); }));
  return problem;
}

class Catalog final : public detail::SettingCatalog {
 public:
  const SettingInfo* find(std::string_view name) const override {
    for (auto* list : {&registry, &whole_registry}) {
      for (const SettingInfo& info : (*list)()) {
        if (info.name == name || info.environment == name) return &info;
      }
    }
    for (const conduits::Available* plugin : conduits::known_by_path()) {
      if (plugin->entry == nullptr) continue;
      for (const SettingInfo& info : plugin->entry->settings) {
        if (info.name == name || info.environment == name) return &info;
      }
    }
    return nullptr;
  }

  std::span<const SettingInfo> all() const override { return whole_registry(); }

  std::string objection(const SettingInfo& info, std::string_view value,
                        const detail::AddedAlgorithms* added) const override {
    std::string problem;
    if (info.name == "conduit") problem = unknown_conduit(info, value);
    if (problem.empty()) problem = coll::algorithm_objection(info, value, detail::algorithms_of(added));
    if (problem.empty()) problem = coll::tree_objection(info, value);
    return problem.empty() ? conduits_objection(info, value) : problem;
  }

  std::span<const SettingInfo> of_plugin(std::string_view path) const override {
    for (const conduits::Available* plugin : conduits::known_by_path()) {
      if (plugin->file == path && plugin->entry != nullptr) return plugin->entry->settings;
    }
    return {};
  }
};

constexpr Catalog kCatalog{};

}  // namespace

Config::Config() : catalog_(&kCatalog) {
  for (const SettingInfo& info : registry()) {
    // A wrong default in a table is recorded like any other problem; a test checks that there is none.
    static_cast<void>(assign(info.name, info.default_value, SettingOrigin::built_in));
  }
}

Config Config::from_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with(kPrefix)) variables.emplace_back(*entry);
  }
  return from_variables(variables);
}

Config Config::from_variables(std::span<const std::string> variables) {
  Config config;
  // The conduit comes first: if it is a plug-in, its settings are known only after it has been loaded.
  std::vector<std::string_view> entries(variables.begin(), variables.end());
  std::stable_partition(entries.begin(), entries.end(),
                        [](auto entry) { return entry.starts_with("AQUEDUCT_CONDUIT="); });
  for (const std::string_view entry : entries) {
    const std::size_t equals = entry.find('=');
    const std::string_view name = entry.substr(0, equals);
    if (equals == std::string_view::npos || !name.starts_with(kPrefix)) continue;
    if (name.starts_with(kPluginPrefix) || is_place(name)) continue;
    static_cast<void>(config.assign(name, entry.substr(equals + 1), SettingOrigin::environment));
  }
  return config;
}

Status Config::add_algorithm(const CollectiveAlgorithm& algorithm) {
  std::string problem = coll::objection_to(algorithm, detail::algorithms_of(algorithms_.get()));
  if (!problem.empty()) {
    problems_.push_back({"algorithm " + algorithm.name, core::readable(problem)});
    return ErrorCode::bad_setting;
  }
  // Copies of this Config keep what they have.
  auto all = algorithms_ != nullptr ? std::make_shared<detail::AddedAlgorithms>(*algorithms_)
                                    : std::make_shared<detail::AddedAlgorithms>();
  all->add(std::make_shared<const coll::AddedAlgorithm>(algorithm));
  algorithms_ = std::move(all);
  for (const auto& [variable, value] : std::exchange(refused_, {}))
    static_cast<void>(assign(variable, value.text, value.origin));
  return {};
}

}  // namespace aqueduct
