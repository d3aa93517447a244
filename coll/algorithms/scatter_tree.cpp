#include "coll/algorithms/scatter_tree.hpp"

namespace aqueduct::coll {

namespace {

constexpr Counter kScatterArrived = 0;

struct ScatterTree {
  Tree tree;
  Rank root;
  std::uint64_t pitch;
  std::uint64_t bytes;
  Rank wrap;  ///< where member 0 is, counted from the root
  bool split = false;
  std::uint32_t split_child = 0;  ///< the root's child whose range is in two pieces

  ScatterTree(const Shape& shape, const Tree& over) noexcept
      : tree(over), root(shape.root), pitch(shape.pitch), bytes(shape.bytes), wrap(shape.ranks - shape.root) {
    if (root == 0 || tree.parent(wrap) == 0) return;
    split = true;
    Rank top = wrap;
    while (tree.parent(top) != 0) top = tree.parent(top);
    split_child = tree.index_of(top);
  }
  Rank member(Rank here) const noexcept { return absolute(here, root, tree.ranks); }
  bool is_split(Rank here) const noexcept {
    return split && tree.parent(here) == 0 && tree.index_of(here) == split_child;
  }
  /// The root's put of the blocks from `begin` on for `child`, whose range begins with the block `first`.
  Step put_from_input(Rank child, Rank first, Rank begin, Rank end) const noexcept {
    Step step = put_to(member(child), {Space::in, member(begin) * pitch, pitch},
                       {Space::scratch, (begin - first) * bytes, bytes}, bytes, kScatterArrived);
    step.runs = end - begin;
    return step;
  }
};

}  // namespace

Needs scatter_tree_needs(const Shape& shape, const Tree& tree) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const ScatterTree plan(shape, tree);
  Rank most = 1;  // the first child has the largest subtree, if no later one has
  for (std::uint32_t i = 0; i < plan.tree.children(0); ++i)
    most = std::max(most, plan.tree.subtree(plan.tree.child(0, i)));
  return {.scratch = most * shape.bytes, .counters = 1};
}

// A put for each child, the root one more if a range is split; then the copy of the own block.
std::uint32_t scatter_tree_length(const Shape& shape, const Tree& tree, Rank position) noexcept {
  if (shape.bytes == 0) return 0;
  const ScatterTree plan(shape, tree);
  const Rank here = relative(position, shape.root, shape.ranks);
  return plan.tree.children(here) + 1 + (here == 0 && plan.split ? 1 : 0);
}

Step scatter_tree_step(const Shape& shape, const Tree& tree, Rank position, std::uint32_t index) noexcept {
  const ScatterTree plan(shape, tree);
  const Rank here = relative(position, shape.root, shape.ranks);
  const std::uint32_t children = plan.tree.children(here);
  if (here == 0) {
    const bool second = plan.split && index == plan.split_child + 1;
    if (plan.split && index > plan.split_child) --index;
    if (index == children)
      return copy_of(at(Space::in, position * shape.pitch), at(Space::out, 0), shape.bytes);
    const Rank child = plan.tree.child(0, index);
    const Rank end = child + plan.tree.subtree(child);
    if (second) return plan.put_from_input(child, child, plan.wrap, end);
    return plan.put_from_input(child, child, child, plan.is_split(child) ? plan.wrap : end);
  }
  Step step = copy_of(at(Space::scratch, 0), at(Space::out, 0), shape.bytes);
  if (index < children) {
    const Rank child = plan.tree.child(here, index);
    step = put_to(plan.member(child), at(Space::scratch, (child - here) * shape.bytes), at(Space::scratch, 0),
                  plan.tree.subtree(child) * shape.bytes, kScatterArrived);
  }
  return index == 0 ? after(step, kScatterArrived, plan.is_split(here) ? 2 : 1) : step;
}

Cost scatter_tree_cost(const Shape& shape, const Tree& tree) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const ScatterTree plan(shape, tree);
  std::uint64_t blocks = 0;
  for (Rank here = 1; here < shape.ranks; ++here) blocks += plan.tree.subtree(here);
  return {.messages = shape.ranks - (plan.split ? 0u : 1u),
          .bytes = blocks * shape.bytes,
          .depth = plan.tree.depth()};
}

}  // namespace aqueduct::coll
