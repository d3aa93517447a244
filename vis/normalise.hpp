#pragma once

#include "vis/survey.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace aqueduct::vis {

/// A shape of the same bytes in the same order, with fewer pieces. In a strided shape, dimensions of one element are
/// removed, and dimensions that continue one another in memory are merged. A list of one piece becomes a strided shape.
/// Requires: `survey` found no problem.
Shape simplified(const Shape& shape) noexcept;

/// The list as a strided shape, possibly of several dimensions, if its pieces lie at regular distances.
///
/// Cost: one pass over the list. For most lists without a pattern the search stops after a few pieces.
std::optional<Shape> strides_in(const Shape& list, const Survey& survey) noexcept;

/// A nest of loops that copies between two strided shapes, as a program would write it by hand.
struct Nest {
  struct Loop {
    std::uint64_t count;
    std::int64_t to;    ///< stride, in bytes
    std::int64_t from;  ///< stride, in bytes
  };
  Nest() noexcept {}        // leaves `loops` uninitialised: few of them are used
  std::uint64_t bytes = 0;  ///< contiguous on both sides
  std::uint32_t depth = 0;
  std::array<Loop, kMostDimensions * 2> loops;  ///< the outermost first
};

/// The loops for a copy between two simplified strided shapes with equal numbers of bytes. The smallest strides are
/// innermost, which is fastest for caches. Nothing if the two shapes have no common piece boundaries; two cursors then
/// do the copy.
std::optional<Nest> nest(const Shape& to, const Shape& from) noexcept;

}  // namespace aqueduct::vis
