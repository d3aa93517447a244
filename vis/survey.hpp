#pragma once

#include "vis/cursor.hpp"

#include <string>

namespace aqueduct::vis {

/// What may be wrong with a shape in itself. All but the first three: so much leaves the range of addresses.
enum class Problem : std::uint8_t { none, section, dimensions, elements, counts, strides, base, pieces };

/// What one pass over a shape finds out.
struct Survey {
  Problem problem = Problem::none;
  bool rising = true;        ///< each piece begins where the one before has ended, or behind it
  std::uint64_t bytes = 0;   ///< the sum
  std::uint64_t pieces = 0;  ///< that are not empty
  std::uint64_t runs = 0;    ///< of pieces that follow one another in memory; of strided shapes, pieces
  std::int64_t lowest = 0;   ///< offset of the first byte, `base` included; 0 when there is none
  std::int64_t highest = 0;  ///< one behind the last byte
};

/// Adds a shape up; `origin` is added to its base. Cost: of a strided shape, its dimensions; of a list, one pass.
Survey survey(const Shape& shape, std::uint64_t origin = 0) noexcept;

/// The problem that a survey has found in the shape: as a code, and for people.
ErrorCode code_of(Problem problem, const Shape& shape) noexcept;
std::string text_of(Problem problem, const Shape& shape);

/// The number and place of the first piece, of a million, that is not inside [0, limit): for the message about it.
std::string first_outside(const Shape& shape, std::uint64_t origin, std::uint64_t total, std::uint64_t limit);

/// Whether two bytes of the shape are one, as far as it is known without much work: lists that are not rising are
/// sorted, up to kMostSorted pieces, and strided shapes that are not nested too.
bool overlaps(const Shape& shape, const Survey& survey);

/// Chosen: 1 MiB of memory while a checked build looks.
inline constexpr std::uint64_t kMostSorted = 65536;

}  // namespace aqueduct::vis
