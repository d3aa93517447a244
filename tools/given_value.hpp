#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace aqueduct::tools {

/// For options whose text a program reads itself: one that is given without a value is not one that was left out.
inline CLI::Validator given_value() {
  return {[](const std::string& text) {
            return text.empty() ? std::string("it has no value; give one, or leave the option out")
                                : std::string();
          },
          ""};
}

/// For numbers that CLI11 reads: by a 0 in front it would take them for octal or hexadecimal.
inline CLI::Validator decimal() {
  return {[](const std::string& text) {
            const std::size_t first = text.find_first_not_of(" +");
            return first != std::string::npos && text[first] == '0' && first + 1 != text.size()
                       ? text + " begins with 0; write the number without it"
                       : std::string();
          },
          ""};
}

}  // namespace aqueduct::tools
