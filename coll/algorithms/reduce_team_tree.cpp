#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/arrivals.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/team_tree.hpp"

namespace aqueduct::coll {

// Up the tree of the team. A parent has a slot for each child and combines in the order of its children, which is not the
// team's.
//
// Cost: P - 1 messages.

namespace {

RootedTeamTree reduce_team_tree(const Shape& shape) noexcept { return {*shape.team_tree.of, shape.root}; }

const char* reduce_team_tree_refusal(const Shape& shape) noexcept {
  if (shape.order == Order::exact || !shape.commutative) return "it combines in the order of its tree";
  return nullptr;
}

Needs reduce_team_tree_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const RootedTeamTree tree = reduce_team_tree(shape);
  return {.scratch = tree.most_children() * shape.bytes,
          .temp = shape.bytes,
          .counters = child_counters(0, tree, shape.bytes).count};
}

// A reduction for each child, and a put to the parent.
std::uint32_t reduce_team_tree_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  return reduce_team_tree(shape).children(position) + (position == shape.root ? 0 : 1);
}

Step reduce_team_tree_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const RootedTeamTree tree = reduce_team_tree(shape);
  const auto slot = [&](std::uint32_t child) { return at(Space::scratch, child * shape.bytes); };
  const ChildCounters counters = child_counters(0, tree, shape.bytes);
  const std::uint32_t children = tree.children(position);
  const Place sum = at(tree.is_root(position) ? Space::out : Space::temp, 0);
  if (index == children) {
    const std::uint32_t mine = tree.index_of(position);
    return put_to(tree.parent(position), children > 0 ? sum : at(Space::in, 0), slot(mine), shape.bytes,
                  counters.of(mine));
  }
  const Step step = reduction(index == 0 ? at(Space::in, 0) : sum, slot(index), sum, shape.bytes);
  return counters.when_arrived(step, index, children);
}

Cost reduce_team_tree_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.messages = shape.ranks - 1,
          .bytes = (shape.ranks - 1) * shape.bytes,
          .depth = reduce_team_tree(shape).depth(),
          .depth_is_limit = true};
}

}  // namespace

const Algorithm kReduceTeamTree{
    .name = "team-tree",
    .operation = Operation::reduce,
    .parameters = {},
    .team_tree = true,
    .refusal = reduce_team_tree_refusal,
    .needs = reduce_team_tree_needs,
    .lanes = one_lane,
    .length = reduce_team_tree_length,
    .step = reduce_team_tree_step,
    .cost = reduce_team_tree_cost,
};

}  // namespace aqueduct::coll
