#pragma once

#include <aqueduct/config.hpp>

#include <cstdint>
#include <string_view>

namespace aqueduct::core::setting {

// One function for each type of setting, for the tables of settings of layers and conduits.

constexpr SettingInfo text(std::string_view name, std::string_view environment, std::string_view standard,
                           std::string_view help) {
  return {name, environment, SettingType::text, "", standard, help};
}

constexpr SettingInfo number(std::string_view name, std::string_view environment, std::string_view standard,
                             std::int64_t least, std::int64_t most, std::string_view help) {
  return {name, environment, SettingType::number, "", standard, help, least, most};
}

constexpr SettingInfo duration(std::string_view name, std::string_view environment, std::string_view unit,
                               std::string_view standard, std::string_view help) {
  return {name, environment, SettingType::duration, unit, standard, help};
}

constexpr SettingInfo choice(std::string_view name, std::string_view environment, std::string_view standard,
                             std::string_view choices, std::string_view help) {
  return {name, environment, SettingType::choice, "", standard, help, 0, INT64_MAX, choices};
}

/// Marks a setting of the library whose value must be equal on all ranks of a job.
constexpr SettingInfo same_on_all_ranks(SettingInfo info) {
  info.same_on_all_ranks = true;
  return info;
}

}  // namespace aqueduct::core::setting
