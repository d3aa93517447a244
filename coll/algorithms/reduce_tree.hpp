#pragma once

#include "coll/algorithms/steps.hpp"
#include "coll/schedule/tree.hpp"

namespace aqueduct::coll {

// A reduction up a tree. A parent has a slot for each child and combines in the order of positions counted from the tree's
// root. If the operator is commutative, that is the operation's root. If not, it is member 0, so that the order is the
// team's, and member 0 puts the result to the root: one message more. A flat tree combines one vector after the other. The
// files of the family choose the tree.
//
// Cost: P - 1 messages, or P.

/// Why the shape is not for this tree; null if it is.
const char* reduce_tree_refusal(const Shape& shape, const Tree& tree) noexcept;
Needs reduce_tree_needs(const Shape& shape, const Tree& tree) noexcept;
std::uint32_t reduce_tree_length(const Shape& shape, const Tree& tree, Rank position) noexcept;
Step reduce_tree_step(const Shape& shape, const Tree& tree, Rank position, std::uint32_t index) noexcept;
Cost reduce_tree_cost(const Shape& shape, const Tree& tree) noexcept;

/// The algorithm's functions, for a tree that is a function of the shape.
template <Tree (*tree_of)(const Shape&) noexcept>
constexpr Algorithm reduce_on_tree(std::string_view name, std::span<const Parameter> parameters) noexcept {
  return {
      .name = name,
      .operation = Operation::reduce,
      .parameters = parameters,
      .refusal = [](const Shape& shape) noexcept { return reduce_tree_refusal(shape, tree_of(shape)); },
      .needs = [](const Shape& shape) noexcept { return reduce_tree_needs(shape, tree_of(shape)); },
      .lanes = one_lane,
      .length = [](const Shape& shape, Rank position,
                   std::uint32_t) noexcept { return reduce_tree_length(shape, tree_of(shape), position); },
      .step =
          [](const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
            return reduce_tree_step(shape, tree_of(shape), position, index);
          },
      .cost = [](const Shape& shape) noexcept { return reduce_tree_cost(shape, tree_of(shape)); },
  };
}

}  // namespace aqueduct::coll
