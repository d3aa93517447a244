#pragma once

#include <cstdint>
#include <limits>

// Lengths and offsets in bytes, from counts of elements. A product that wrapped around would name a place that exists,
// so what is too large becomes a number that every check refuses.

namespace aqueduct::detail {

/// The bytes of `count` elements. If that is too large: a multiple of `element` that no memory has.
constexpr std::uint64_t byte_count(std::uint64_t count, std::uint64_t element) noexcept {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return count > kMost / element ? kMost / element * element : count * element;
}

/// An offset that is in no segment: the farthest from those that are, above them and, by wrapping, below. A further step
/// from it, in either direction, does not reach one of them.
inline constexpr std::uint64_t kOffsetNowhere = std::uint64_t{1} << 63;

/// The offset of element `index`; kOffsetNowhere if it is too large.
constexpr std::uint64_t byte_offset(std::uint64_t index, std::uint64_t element) noexcept {
  if (index > (kOffsetNowhere - 1) / element) [[unlikely]]
    return kOffsetNowhere;
  return index * element;
}

}  // namespace aqueduct::detail
