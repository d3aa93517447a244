#pragma once

#include "coll/schedule/shape.hpp"

#include <algorithm>
#include <cstdint>

namespace aqueduct::coll {

/// A block cut into one part for each member, in whole elements: the first parts have an element more than the others.
/// Parts may be empty.
struct Parts {
  std::uint64_t ranks;
  std::uint64_t bytes;  ///< of the block
  std::uint64_t element;
  std::uint64_t each;    ///< elements of a part
  std::uint64_t longer;  ///< this many parts have one more

  explicit Parts(const Shape& shape) noexcept
      : ranks(shape.ranks),
        bytes(shape.bytes),
        element(shape.element),
        each(shape.bytes / shape.element / shape.ranks),
        longer(shape.bytes / shape.element % shape.ranks) {}
  /// Where a part begins. Requires: part <= ranks.
  std::uint64_t begin(std::uint64_t part) const noexcept {
    return (part * each + std::min(part, longer)) * element;
  }
  std::uint64_t size(std::uint64_t first, std::uint64_t count) const noexcept {
    return begin(first + count) - begin(first);
  }
  /// The bytes of `count` parts from `first` on, after the last of which comes part 0.
  std::uint64_t around(std::uint64_t first, std::uint64_t count) const noexcept {
    return first + count <= ranks ? size(first, count) : bytes - begin(first) + begin(first + count - ranks);
  }
  std::uint64_t longest() const noexcept { return (each + (longer > 0 ? 1 : 0)) * element; }
};

}  // namespace aqueduct::coll
