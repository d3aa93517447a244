#include <aqueduct/config.hpp>
#include <aqueduct/expect.hpp>

#include "core/nearest_name.hpp"
#include "core/readable.hpp"
#include "core/setting_catalog.hpp"
#include "core/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

// The values of settings. Where they come from is in runtime/config.cpp.

namespace aqueduct {
namespace {

constexpr std::string_view kVariablePrefix = "AQUEDUCT_";

std::string variable_of(std::string_view name) {
  if (name.starts_with(kVariablePrefix)) return std::string(name);
  std::string variable(kVariablePrefix);
  for (const char c : name) variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

/// The message for a name that is not a setting. It shows the name as the user wrote it: as a variable or as a setting.
std::string unknown(const detail::SettingCatalog& catalog, std::string_view name) {
  const bool variable = name.starts_with(kVariablePrefix);
  core::NearestName nearest(variable ? name.substr(kVariablePrefix.size()) : name);
  for (const SettingInfo& info : catalog.all()) nearest.offer(info.name);
  const SettingInfo* meant = catalog.find(nearest.name());
  if (meant == nullptr) {
    return fmt::format("{} is not a setting; aqinfo lists all that there are", core::quoted(name));
  }
  return fmt::format("{} is not a setting; did you mean {}?", core::quoted(name),
                     variable ? meant->environment : meant->name);
}

}  // namespace

Status Config::set(std::string_view name, std::string_view value) {
  return assign(name, value, SettingOrigin::program);
}

Status Config::assign(std::string_view name, std::string_view value, SettingOrigin origin) {
  const SettingInfo* info = catalog_->find(name);
  core::SettingValue read;
  if (info == nullptr) {
    read.problem = unknown(*catalog_, name);
  } else {
    read = core::read_setting(*info, value);
    if (read.problem.empty()) read.problem = catalog_->objection(*info, value, algorithms_.get());
  }
  const std::string variable = info != nullptr ? std::string(info->environment) : variable_of(name);
  // The last value counts: it also replaces the problem of an earlier value.
  std::erase_if(problems_, [&](const SettingProblem& old) { return old.variable == variable; });
  refused_.erase(variable);
  if (!read.problem.empty()) {
    problems_.push_back({variable, core::readable(read.problem)});
    refused_.insert_or_assign(variable, Value{std::string(value), 0, origin});
    return ErrorCode::bad_setting;
  }
  values_.insert_or_assign(std::string(info->name), Value{std::move(read.text), read.number, origin});
  if (info->name == "conduit") take_defaults_of(value);
  return {};
}

// Stores the defaults, so that reading a setting of the plug-in does not search, and load, all plug-ins.
void Config::take_defaults_of(std::string_view conduit) {
  for (const SettingInfo& info : catalog_->of_plugin(conduit)) {
    if (!values_.contains(info.name))
      static_cast<void>(assign(info.name, info.default_value, SettingOrigin::built_in));
  }
}

std::span<const SettingInfo> Config::settings() const noexcept { return catalog_->all(); }

Config::Value Config::value(std::string_view name) const {
  if (const auto found = values_.find(name); found != values_.end()) return found->second;
  // Then it is a plug-in's setting that has not been set.
  const SettingInfo* info = catalog_->find(name);
  AQUEDUCT_EXPECT(info != nullptr, "Config was asked for something that is not a setting");
  if (info == nullptr) return {};
  core::SettingValue standard = core::read_setting(*info, info->default_value);
  return {std::move(standard.text), standard.number, SettingOrigin::built_in};
}

std::string Config::text(std::string_view name) const { return value(name).text; }
std::int64_t Config::number(std::string_view name) const { return value(name).number; }
std::int64_t Config::nanoseconds(std::string_view name) const {
  // Such a time is added to the clock's, which must not wrap.
  constexpr std::int64_t kCentury = std::int64_t{36525} * 86'400 * 1'000'000'000;
  return std::min(value(name).number, kCentury);
}
SettingOrigin Config::origin(std::string_view name) const { return value(name).origin; }

bool Config::flag(std::string_view name) const {
  // Reads the text, so that a setting with the choices on and off works like a boolean.
  return core::read_truth(value(name).text) == 1;
}

}  // namespace aqueduct
