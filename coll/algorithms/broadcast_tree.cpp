#include "coll/algorithms/broadcast_tree.hpp"

#include "coll/schedule/rooted_tree.hpp"

namespace aqueduct::coll {

namespace {

// Of each segment: a put for each child, then the copy to the output.
template <class AnyTree>
std::uint32_t broadcast_length_of(const Shape& shape, const AnyTree& tree, Rank position,
                                  std::uint32_t segments) noexcept {
  return Segments(shape.bytes, shape.element, segments).count * (tree.children(position) + 1);
}

template <class AnyTree>
Step broadcast_step_of(const Shape& shape, const AnyTree& tree, Rank position, std::uint32_t index,
                       std::uint32_t segments) noexcept {
  const Segments parts(shape.bytes, shape.element, segments);
  const std::uint32_t children = tree.children(position);
  const std::uint32_t segment = index / (children + 1);
  const std::uint32_t child = index % (children + 1);
  const std::uint64_t offset = parts.begin(segment);
  const auto arrived = static_cast<Counter>(segment);
  const Place from = at(tree.is_root(position) ? Space::in : Space::scratch, offset);
  const Step step = child < children ? put_to(tree.child(position, child), from, at(Space::scratch, offset),
                                              parts.size(segment), arrived)
                                     : copy_of(from, at(Space::out, offset), parts.size(segment));
  return !tree.is_root(position) && child == 0 ? after(step, arrived, 1) : step;
}

Cost broadcast_cost_of(const Shape& shape, std::uint32_t depth, std::uint32_t segments) noexcept {
  const std::uint32_t count = Segments(shape.bytes, shape.element, segments).count;
  if (shape.ranks == 1 || count == 0) return {};
  return {.messages = std::uint64_t{shape.ranks - 1} * count,
          .bytes = (shape.ranks - 1) * shape.bytes,
          .depth = depth};
}

}  // namespace

Needs broadcast_tree_needs(const Shape& shape, std::uint32_t segments) noexcept {
  if (shape.ranks == 1) return {};
  return {.scratch = shape.bytes, .counters = Segments(shape.bytes, shape.element, segments).count};
}

std::uint32_t broadcast_tree_length(const Shape& shape, const Tree& tree, Rank position,
                                    std::uint32_t segments) noexcept {
  return broadcast_length_of(shape, RootedTree(tree, shape.root), position, segments);
}
std::uint32_t broadcast_tree_length(const Shape& shape, const GroupsTree& tree, Rank position,
                                    std::uint32_t segments) noexcept {
  return broadcast_length_of(shape, tree, position, segments);
}

Step broadcast_tree_step(const Shape& shape, const Tree& tree, Rank position, std::uint32_t index,
                         std::uint32_t segments) noexcept {
  return broadcast_step_of(shape, RootedTree(tree, shape.root), position, index, segments);
}
Step broadcast_tree_step(const Shape& shape, const SizedTree& tree, Rank position, std::uint32_t index,
                         std::uint32_t segments) noexcept {
  return broadcast_step_of(shape, tree, position, index, segments);
}
Step broadcast_tree_step(const Shape& shape, const GroupsTree& tree, Rank position, std::uint32_t index,
                         std::uint32_t segments) noexcept {
  return broadcast_step_of(shape, tree, position, index, segments);
}

Cost broadcast_tree_cost(const Shape& shape, const Tree& tree, std::uint32_t segments) noexcept {
  return broadcast_cost_of(shape, tree.depth(), segments);
}
Cost broadcast_tree_cost(const Shape& shape, const GroupsTree& tree, std::uint32_t segments) noexcept {
  Cost cost = broadcast_cost_of(shape, tree.depth(), segments);
  cost.depth_is_limit = true;  // the last leaders may have nobody below them
  return cost;
}

std::uint32_t broadcast_tree_length(const Shape& shape, const RootedTeamTree& tree, Rank position,
                                    std::uint32_t segments) noexcept {
  return broadcast_length_of(shape, tree, position, segments);
}
Step broadcast_tree_step(const Shape& shape, const RootedTeamTree& tree, Rank position, std::uint32_t index,
                         std::uint32_t segments) noexcept {
  return broadcast_step_of(shape, tree, position, index, segments);
}
Cost broadcast_tree_cost(const Shape& shape, const RootedTeamTree& tree, std::uint32_t segments) noexcept {
  Cost cost = broadcast_cost_of(shape, tree.depth(), segments);
  cost.depth_is_limit = true;  // the farthest member may be on the root's side of the tree
  return cost;
}

}  // namespace aqueduct::coll
