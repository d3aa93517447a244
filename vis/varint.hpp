#pragma once

#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>

namespace aqueduct::vis {

/// The longest encoding of a number, in bytes. Each byte has seven bits of the number, the lowest first; its highest
/// bit is set if more bytes follow.
inline constexpr std::size_t kMostVarint = 10;

/// Maps small numbers of either sign to small unsigned numbers: 0, -1, 1, -2, 2, … become 0, 1, 2, 3, 4, …
constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
}

/// Writes a number; returns the place behind it. Requires: kMostVarint bytes of room.
inline std::byte* write_varint(std::byte* to, std::uint64_t value) noexcept {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<std::byte>(value | 0x80);
  *to++ = static_cast<std::byte>(value);
  return to;
}

/// Reads a number, and removes it from the front of `from`. False if there is none, or it has more than 64 bits.
inline bool read_varint(core::Bytes& from, std::uint64_t& value) noexcept {
  value = 0;
  for (std::size_t i = 0; i < from.size() && i < kMostVarint; ++i) {
    const auto byte = static_cast<std::uint64_t>(from[i]);
    if (i == kMostVarint - 1 && byte > 1) return false;
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      from = from.subspan(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace aqueduct::vis
