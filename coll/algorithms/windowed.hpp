#pragma once

#include "coll/algorithms/steps.hpp"

#include <algorithm>
#include <cstdint>

namespace aqueduct::coll {

// A root that deals with all others directly, a window of them at a time, beginning with its successor. A window has its own
// counter.

inline constexpr Parameter kWindowedParameters[] = {{"window", 1, 1024, 16}};
/// Chosen: counters are leased from a few hundred.
inline constexpr std::uint32_t kMostWindowsOfRoot = 230;

struct Windows {
  std::uint32_t width;
  std::uint32_t others;

  explicit Windows(const Shape& shape) noexcept : width(shape.parameters[0]), others(shape.ranks - 1) {}

  std::uint32_t count() const noexcept { return (others + width - 1) / width; }
  /// Members of this window: the last one may have fewer than the others.
  std::uint32_t width_at(std::uint32_t window) const noexcept {
    return std::min(width, others - window * width);
  }
};

inline const char* windowed_refusal(const Shape& shape) noexcept {
  return Windows(shape).count() > kMostWindowsOfRoot
             ? "it needs a counter for each window of members: too many"
             : nullptr;
}

}  // namespace aqueduct::coll
