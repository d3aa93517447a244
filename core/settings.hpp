#pragma once

#include <aqueduct/config.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace aqueduct::core {

/// The meaning of a setting's text, or the reason why it is refused.
struct SettingValue {
  std::string text;         ///< as given; of a choice, its word; of a boolean, "on" or "off"
  std::int64_t number = 0;  ///< the number or the nanoseconds; 1 or 0; the index of the choice, from 0
  std::string problem;      ///< in words; empty when the value is good
};

/// Reads a value of the setting that `info` describes. A problem names the variable, the value and what is allowed.
SettingValue read_setting(const SettingInfo& info, std::string_view value);

/// "off", "no", "false" and "0" are false; "on", "yes", "true" and "1" are true; -1 for anything else.
int read_truth(std::string_view word) noexcept;

/// The values that a setting may have, in words: "a whole number from 1 to 256", "one of on, off".
std::string allowed_values(const SettingInfo& info);

/// A value as part of a message: printable characters only, and cut after 60 (core/readable.hpp).
std::string quoted(std::string_view value);

/// As `quoted`, for a message that also has `other`, an unequal value: shows where they differ. If one of them is too long to be
/// shown whole, it begins shortly before their first difference: "…mc=7 (100 bytes)".
std::string quoted_beside(std::string_view value, std::string_view other);

}  // namespace aqueduct::core
