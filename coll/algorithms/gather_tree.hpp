#pragma once

#include "coll/algorithms/radix_tree.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Up a tree: a member collects the blocks of its subtree in scratch, in the order of positions counted from the root, and
// puts them to its parent in one message. The root copies them to its output. Short blocks. The files of the family choose
// the tree.
//
// Cost: P - 1 messages; each block travels over as many edges as its member is deep.

Needs gather_tree_needs(const Shape& shape, const Tree& tree) noexcept;
std::uint32_t gather_tree_length(const Shape& shape, const Tree& tree, Rank position) noexcept;
Step gather_tree_step(const Shape& shape, const Tree& tree, Rank position, std::uint32_t index) noexcept;
Cost gather_tree_cost(const Shape& shape, const Tree& tree) noexcept;

/// The algorithm's functions, for a tree of a kind whose radix is the first parameter.
template <Tree::Kind kind>
constexpr Algorithm gather_on_tree(std::string_view name, std::span<const Parameter> parameters) noexcept {
  return {
      .name = name,
      .operation = Operation::gather,
      .parameters = parameters,
      .refusal = no_refusal,
      .needs = [](const Shape& shape) noexcept { return gather_tree_needs(shape, radix_tree<kind>(shape)); },
      .lanes = one_lane,
      .length =
          [](const Shape& shape, Rank position, std::uint32_t) noexcept {
            return gather_tree_length(shape, radix_tree<kind>(shape), position);
          },
      .step =
          [](const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
            return gather_tree_step(shape, radix_tree<kind>(shape), position, index);
          },
      .cost = [](const Shape& shape) noexcept { return gather_tree_cost(shape, radix_tree<kind>(shape)); },
  };
}

}  // namespace aqueduct::coll
