#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include <unistd.h>

namespace aqueduct::fault {

/// Whether one of the folders in PATH contains this program.
inline bool is_installed(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const std::string file = std::string(rest.substr(0, colon)) + "/" + std::string(name);
    if (::access(file.c_str(), X_OK) == 0) return true;
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
  }
  return false;
}

}  // namespace aqueduct::fault
