#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace aqueduct::tools {

/// A whole number in decimal digits, with or without a unit behind it: K, M, G or T, which are powers of 1024, also as small
/// letters. Empty if the text is not such a number, or if the number needs more than 64 bits.
inline std::optional<std::uint64_t> read_size(std::string_view text) {
  constexpr std::string_view kUnits = "KMGTkmgt";
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc()) return std::nullopt;
  unsigned shift = 0;
  if (rest != end) {
    const auto unit = kUnits.find(*rest);
    if (unit == std::string_view::npos || rest + 1 != end) return std::nullopt;
    shift = 10 * static_cast<unsigned>(unit % 4 + 1);
  }
  if (value > (~std::uint64_t{0} >> shift)) return std::nullopt;
  return value << shift;
}

}  // namespace aqueduct::tools
