#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/team_tree_blocks.hpp"

#include <algorithm>

namespace aqueduct::coll {

// Down the tree of the team.
//
// If places are positions, the root's puts read its input. A range of places that goes from the last one on to place 0 is in
// two pieces there: its message is two puts. That is one child of the root, or none. If not, the root has all blocks in
// scratch, in the order of places counted from its own, and no range is cut.
// Cost: P - 1 messages, or P; each block travels over as many edges as there are between its member and the root.

namespace {

constexpr Counter kScatteredTeamTree = 0;

/// The blocks of a root's child that are beyond the last place, and so in a piece of their own; 0: none, or all of them.
Rank beyond_last(const TeamTreeBlocks& plan, Rank child) noexcept {
  const Rank end = plan.tree.begin(child) + plan.tree.subtree(child);
  return plan.places.in_team_order() && end > plan.ranks ? end - plan.ranks : 0;
}
/// Which of the root's children has such blocks, which is one at most; its number of children if none has.
std::uint32_t split_child(const TeamTreeBlocks& plan) noexcept {
  const std::uint32_t children = plan.tree.children(plan.root);
  if (plan.root == 0) return children;
  const std::uint32_t index = plan.tree.child_toward(0);  // place 0 is member 0's
  return beyond_last(plan, plan.tree.child(plan.root, index)) != 0 ? index : children;
}

Needs scatter_team_tree_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const TeamTreeBlocks plan(shape);
  Rank most = plan.places.in_team_order() ? 1 : shape.ranks;
  for (std::uint32_t i = 0; i < plan.tree.children(shape.root); ++i)
    most = std::max(most, plan.tree.subtree(plan.tree.child(shape.root, i)));
  return {.scratch = most * shape.bytes, .counters = 1};
}

// Of the root: its copies into scratch, if there are any; a put for each child, and one more if a range is in two pieces. Then
// the copy of the own block.
std::uint32_t scatter_team_tree_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const TeamTreeBlocks plan(shape);
  const std::uint32_t children = plan.tree.children(position);
  if (position != shape.root) return children + 1;
  if (!plan.places.in_team_order()) return plan.pieces() + children + 1;
  return children + 1 + (split_child(plan) < children ? 1 : 0);
}

/// The root's put of `count` blocks for a child from its input, the first of which is `skip` behind the child's first one.
Step scatter_from_input(const TeamTreeBlocks& plan, Rank child, Rank skip, Rank count) noexcept {
  const Rank begin = plan.tree.begin(child) + skip;
  const Rank member = begin < plan.ranks ? begin : begin - plan.ranks;
  Step step = put_to(child, {Space::in, member * plan.pitch, plan.pitch},
                     {Space::scratch, skip * plan.bytes, plan.bytes}, plan.bytes, kScatteredTeamTree);
  step.runs = count;
  return step;
}

Step scatter_step_of_root(const TeamTreeBlocks& plan, std::uint32_t index) noexcept {
  const std::uint32_t children = plan.tree.children(plan.root);
  const Step own = copy_of(at(Space::in, plan.root * plan.pitch), at(Space::out, 0), plan.bytes);
  if (plan.places.in_team_order()) {
    const std::uint32_t split = split_child(plan);
    const bool second = split < children && index == split + 1;
    if (index > split) --index;
    if (index == children) return own;
    const Rank child = plan.tree.child(plan.root, index);
    const Rank beyond = beyond_last(plan, child);
    const Rank first = plan.tree.subtree(child) - beyond;
    return second ? scatter_from_input(plan, child, first, beyond)
                  : scatter_from_input(plan, child, 0, first);
  }
  if (index < plan.pieces()) {
    const TeamTreeBlocks::Piece piece = plan.piece(index);
    Step copy = copy_of({Space::in, piece.member * plan.pitch, plan.pitch},
                        {Space::scratch, piece.behind * plan.bytes, plan.bytes}, plan.bytes);
    copy.runs = piece.count;
    return copy;
  }
  index -= plan.pieces();
  if (index == children) return own;
  const Rank child = plan.tree.child(plan.root, index);
  const Rank there = plan.tree.behind(plan.at_root, plan.tree.begin(child));
  return put_to(child, at(Space::scratch, there * plan.bytes), at(Space::scratch, 0),
                plan.tree.subtree(child) * plan.bytes, kScatteredTeamTree);
}

Step scatter_team_tree_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const TeamTreeBlocks plan(shape);
  if (position == shape.root) return scatter_step_of_root(plan, index);
  const Rank begin = plan.tree.begin(position);
  const auto in_scratch = [&](Rank place) {
    return at(Space::scratch, plan.tree.behind(begin, place) * shape.bytes);
  };
  Step step = copy_of(in_scratch(plan.places.place_of(position)), at(Space::out, 0), shape.bytes);
  if (index < plan.tree.children(position)) {
    const Rank child = plan.tree.child(position, index);
    step = put_to(child, in_scratch(plan.tree.begin(child)), at(Space::scratch, 0),
                  plan.tree.subtree(child) * shape.bytes, kScatteredTeamTree);
  }
  if (index > 0) return step;
  const bool in_two = plan.tree.parent(position) == shape.root && beyond_last(plan, position) > 0;
  return after(step, kScatteredTeamTree, in_two ? 2 : 1);
}

Cost scatter_team_tree_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const TeamTreeBlocks plan(shape);
  const bool split = split_child(plan) < plan.tree.children(shape.root);
  return {.messages = shape.ranks - (split ? 0u : 1u),
          .bytes = plan.blocks_sent() * shape.bytes,
          .depth = plan.tree.depth(),
          .depth_is_limit = true};
}

}  // namespace

const Algorithm kScatterTeamTree{
    .name = "team-tree",
    .operation = Operation::scatter,
    .parameters = {},
    .team_tree = true,
    .refusal = no_refusal,
    .needs = scatter_team_tree_needs,
    .lanes = one_lane,
    .length = scatter_team_tree_length,
    .step = scatter_team_tree_step,
    .cost = scatter_team_tree_cost,
};

}  // namespace aqueduct::coll
