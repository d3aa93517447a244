#pragma once

#include "coll/schedule/shape.hpp"
#include "coll/schedule/tree.hpp"

namespace aqueduct::coll {

/// The tree of an algorithm whose first parameter is the radix.
template <Tree::Kind kind>
constexpr Tree radix_tree(const Shape& shape) noexcept {
  return {kind, shape.parameters[0], shape.ranks};
}

}  // namespace aqueduct::coll
