#pragma once

#include "coll/algorithms/radix_tree.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Down a tree: a member gets the blocks of its whole subtree in one message, and passes on those of its children's subtrees.
// Short blocks. The files of the family choose the tree.
//
// Subtrees are ranges of positions counted from the root. A range that goes from the last member on to member 0 is in
// two pieces in the root's input: its message is two puts. That is one child of the root, or none.
// Cost: P - 1 messages, or P; each block travels over as many edges as its member is deep.

Needs scatter_tree_needs(const Shape& shape, const Tree& tree) noexcept;
std::uint32_t scatter_tree_length(const Shape& shape, const Tree& tree, Rank position) noexcept;
Step scatter_tree_step(const Shape& shape, const Tree& tree, Rank position, std::uint32_t index) noexcept;
Cost scatter_tree_cost(const Shape& shape, const Tree& tree) noexcept;

/// The algorithm's functions, for a tree of a kind whose radix is the first parameter.
template <Tree::Kind kind>
constexpr Algorithm scatter_on_tree(std::string_view name, std::span<const Parameter> parameters) noexcept {
  return {
      .name = name,
      .operation = Operation::scatter,
      .parameters = parameters,
      .refusal = no_refusal,
      .needs = [](const Shape& shape) noexcept { return scatter_tree_needs(shape, radix_tree<kind>(shape)); },
      .lanes = one_lane,
      .length =
          [](const Shape& shape, Rank position, std::uint32_t) noexcept {
            return scatter_tree_length(shape, radix_tree<kind>(shape), position);
          },
      .step =
          [](const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
            return scatter_tree_step(shape, radix_tree<kind>(shape), position, index);
          },
      .cost = [](const Shape& shape) noexcept { return scatter_tree_cost(shape, radix_tree<kind>(shape)); },
  };
}

}  // namespace aqueduct::coll
