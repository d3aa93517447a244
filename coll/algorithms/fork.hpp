#pragma once

#include "coll/schedule/algorithm.hpp"
#include "coll/schedule/tree.hpp"

namespace aqueduct::coll {

// Algorithms on a fork tree. Members are numbered along the rows of a mesh or torus: whoever places the ranks must know its
// dimensions, and gives them as the first two parameters. The last dimension follows from the number of members. If the root
// is not member 0, positions are shifted, and an edge from the end of a row may take two links.

inline constexpr Parameter kForkRow{"row", 1, 65536, 8};
inline constexpr Parameter kForkRows{"rows", 1, 65536, 8};

inline Tree fork_tree(const Shape& shape) noexcept {
  return Tree::fork(shape.parameters[0], shape.parameters[1], shape.ranks);
}

}  // namespace aqueduct::coll
