#pragma once

#include <bit>
#include <cstdint>

namespace aqueduct::coll {

// Sizes of blocks in classes, two to an octave: what is chosen for one size of a class serves all of it. Whole numbers only,
// so that all members put a size into the same class.

/// 0 for no bytes; otherwise 1 + 2k for 2^k bytes or more, and 2 + 2k from 181/128 of that on (the square root of two).
constexpr std::uint32_t size_class(std::uint64_t bytes) noexcept {
  if (bytes == 0) return 0;
  const auto octave = static_cast<std::uint32_t>(std::bit_width(bytes) - 1);
  const std::uint64_t least = std::uint64_t{1} << octave;
  // The upper half begins at least + least · 53 / 128, rounded up.
  const std::uint64_t half = least / 128 * 53 + (least % 128 * 53 + 127) / 128;
  return 1 + 2 * octave + (bytes - least >= half ? 1 : 0);
}

inline constexpr std::uint32_t kSizeClasses = 129;

/// The least size of a class. Requires: less than kSizeClasses.
constexpr std::uint64_t least_bytes_of(std::uint32_t size) noexcept {
  if (size == 0) return 0;
  const std::uint64_t least = std::uint64_t{1} << ((size - 1) / 2);
  return size % 2 == 1 ? least : least + least / 128 * 53 + (least % 128 * 53 + 127) / 128;
}

}  // namespace aqueduct::coll
