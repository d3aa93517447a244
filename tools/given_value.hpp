#pragma once

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace aqueduct::tools {

/// For options whose text a program reads itself: one that is given without a value is not one that was left out.
inline CLI::Validator given_value() {
  return {[](const std::string& text) {
            return text.empty() ? std::string("it has no value; give one, or leave the option out")
                                : std::string();
          },
          ""};
}

/// The whole text as a finite number in decimal digits, such as 2.5 or 1e3; nothing if it is none.
inline std::optional<double> read_real(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// For whole numbers that CLI11 reads: by a 0 in front it would take them for octal or hexadecimal, and it passes over blanks and a
/// plus sign. Of options that have no sign it takes -1 for the largest number.
inline CLI::Validator decimal() {
  return {[](const std::string& text) {
            if (text.size() > 1 && text.front() == '0')
              return text + " begins with 0; write the number without it";
            std::uint64_t value = 0;
            const char* const end = text.data() + text.size();
            const auto [rest, error] = std::from_chars(text.data(), end, value);
            if (error == std::errc::result_out_of_range) return text + " is larger than any number here";
            return error == std::errc() && rest == end
                       ? std::string()
                       : "'" + text + "' is no such number; write decimal digits, without a sign or a unit";
          },
          ""};
}

/// For numbers that CLI11 reads and that need not be whole: it would take hexadecimal ones, and passes over blanks and a plus sign.
/// Infinity and NaN are left to the program.
inline CLI::Validator real() {
  return {[](const std::string& text) {
            double value = 0;
            const char* const end = text.data() + text.size();
            const auto [rest, error] = std::from_chars(text.data(), end, value);
            return error == std::errc() && rest == end
                       ? std::string()
                       : "'" + text +
                             "' is no such number; write one such as 2.5, without a plus sign or a unit";
          },
          ""};
}

}  // namespace aqueduct::tools
