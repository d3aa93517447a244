#pragma once

#include "coll/schedule/algorithm.hpp"
#include "coll/schedule/tree.hpp"

namespace aqueduct::coll {

// Algorithms on a fork tree: the members are numbered along the rows of a mesh or torus, which whoever places them knows.
// Their first two parameters are its dimensions but for the last, which follows from the number of members. With another
// root than member 0 the positions are shifted: then an edge may lead from the end of a row over two links.

inline constexpr Parameter kForkRow{"row", 1, 65536, 8};
inline constexpr Parameter kForkRows{"rows", 1, 65536, 8};

inline Tree fork_tree(const Shape& shape) noexcept {
  return Tree::fork(shape.parameters[0], shape.parameters[1], shape.ranks);
}

}  // namespace aqueduct::coll
