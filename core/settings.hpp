#pragma once

#include <aqueduct/config.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace aqueduct::core {

/// What a setting's text means, or what is wrong with it.
struct SettingValue {
  std::string text;         ///< as given; a choice or a truth as its own word
  std::int64_t number = 0;  ///< the number; nanoseconds; 1 or 0; which choice, counted from 0
  std::string problem;      ///< for people; empty when the value is good
};

/// Reads one value as `info` says. A problem names the variable, the value and what is allowed.
SettingValue read_setting(const SettingInfo& info, std::string_view value);

/// "off", "no", "false" and "0" are false; "on", "yes", "true" and "1" are true; -1 for anything else.
int read_truth(std::string_view word) noexcept;

/// "a number from 1 to 256", "one of on, off", …: what a value may be, for people.
std::string allowed_values(const SettingInfo& info);

/// A value as part of a message: on one line, and no longer than a line.
std::string quoted(std::string_view value);

}  // namespace aqueduct::core
