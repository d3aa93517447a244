#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace aqueduct::bootstrap {

/// What a launcher passes to a process in its environment.
struct Description {
  int descriptor = -1;  ///< the process's end of a stream socket to the launcher
  std::uint32_t process = 0;
  std::uint32_t processes = 0;
  std::uint64_t job = 0;
  bool operator==(const Description&) const = default;
};

/// "fd:5,process:2,processes:8,job:123456789"
std::string format_description(const Description& about);
/// Nothing unless all four fields are there (in any order), each once, readable and consistent.
std::optional<Description> parse_description(std::string_view text);

}  // namespace aqueduct::bootstrap
