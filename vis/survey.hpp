#pragma once

#include "vis/cursor.hpp"

#include <string>

namespace aqueduct::vis {

/// What is wrong with a shape in itself; `section`: what was found when it was made, Shape::problem. The values from `elements` on name the part of the shape that leaves the range
/// of addresses.
enum class Problem : std::uint8_t { none, section, dimensions, elements, counts, strides, base, pieces };

/// The result of one pass over a shape.
struct Survey {
  Problem problem = Problem::none;
  bool rising = true;        ///< each piece begins at or after the end of the previous one
  std::uint64_t bytes = 0;   ///< the sum of all pieces
  std::uint64_t pieces = 0;  ///< number of pieces that are not empty
  std::uint64_t runs = 0;    ///< number of contiguous runs in a list; the pieces of a strided shape
  std::int64_t lowest = 0;   ///< place of the lowest byte, base included; 0 without pieces
  std::int64_t highest = 0;  ///< one past the highest byte
};

/// Surveys a shape; `origin` is added to its base. Cost: the dimensions of a strided shape; one pass over a list.
Survey survey(const Shape& shape, std::uint64_t origin = 0) noexcept;

/// The problem that a survey has found in the shape: as an error code, and as readable text.
ErrorCode code_of(Problem problem, const Shape& shape) noexcept;
std::string text_of(Problem problem, const Shape& shape);

/// Describes the first piece that is not inside [0, limit), for an error message. Looks at the first million pieces.
std::string first_outside(const Shape& shape, std::uint64_t origin, std::uint64_t total, std::uint64_t limit);

/// Whether pieces of the shape overlap. Lists that are not rising, and strided shapes that are not nested, are sorted
/// in order to find out. That is done for at most kMostSorted pieces; with more the answer is false.
bool overlaps(const Shape& shape, const Survey& survey);

/// Chosen: 1 MiB of memory during the check in a checked build.
inline constexpr std::uint64_t kMostSorted = 65536;

}  // namespace aqueduct::vis
