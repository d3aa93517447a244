#pragma once

#include "vis/survey.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace aqueduct::vis {

/// The same bytes in the same order with fewer pieces: of a strided shape, dimensions of one element go, and those that
/// follow one another in memory become one. Requires: `survey` found no problem.
Shape simplified(const Shape& shape) noexcept;

/// A list as a strided shape, if its pieces lie regularly, in several dimensions perhaps.
///
/// Cost: one pass over the list; a list without a pattern is left after its first few pieces, as a rule.
std::optional<Shape> strides_in(const Shape& list, const Survey& survey) noexcept;

/// Loops that copy between two strided shapes at once: what one loop of the program would do by hand.
struct Nest {
  struct Loop {
    std::uint64_t count;
    std::int64_t to;    ///< stride, in bytes
    std::int64_t from;  ///< stride, in bytes
  };
  Nest() noexcept {}        // leaves the loops as they are, of which few are used
  std::uint64_t bytes = 0;  ///< contiguous on both sides
  std::uint32_t depth = 0;
  std::array<Loop, kMostDimensions * 2> loops;  ///< the outermost first
};

/// The loops over two simplified strided shapes of equal sums, in the order that suits memory: the smallest strides
/// innermost. None if the two are not cut at the same places: then two cursors do it.
std::optional<Nest> nest(const Shape& to, const Shape& from) noexcept;

}  // namespace aqueduct::vis
