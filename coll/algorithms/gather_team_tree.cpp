#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/team_tree_blocks.hpp"

namespace aqueduct::coll {

// Up the tree of the team.
//
// Cost: P - 1 messages; each block travels over as many edges as there are between its member and the root.

namespace {

constexpr Counter kGatheredTeamTree = 0;

Needs gather_team_tree_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.ranks * shape.bytes, .counters = 1};
}

// A leaf has its put. Another member first copies its own block. The root copies to its output: its own block, and those
// of the others.
std::uint32_t gather_team_tree_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const TeamTreeBlocks plan(shape);
  if (position == shape.root) return 1 + plan.pieces();
  return plan.tree.children(position) == 0 ? 1 : 2;
}

Step gather_team_tree_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (position == shape.root && index == 0)
    return copy_of(at(Space::in, 0), at(Space::out, position * shape.pitch), shape.bytes);
  const TeamTreeBlocks plan(shape);
  const std::uint32_t children = plan.tree.children(position);
  if (position == shape.root) {
    const TeamTreeBlocks::Piece piece = plan.piece(index - 1);
    Step copy = copy_of({Space::scratch, piece.behind * shape.bytes, shape.bytes},
                        {Space::out, piece.member * shape.pitch, shape.pitch}, shape.bytes);
    copy.runs = piece.count;
    return index == 1 ? after(copy, kGatheredTeamTree, children) : copy;
  }
  const Rank begin = plan.tree.begin(position);
  if (children > 0 && index == 0) {
    const Rank mine = plan.tree.behind(begin, plan.places.place_of(position));
    return copy_of(at(Space::in, 0), at(Space::scratch, mine * shape.bytes), shape.bytes);
  }
  const Rank parent = plan.tree.parent(position);
  const Rank there = plan.tree.behind(plan.tree.begin(parent), begin);
  const Step put = put_to(parent, at(children > 0 ? Space::scratch : Space::in, 0),
                          at(Space::scratch, there * shape.bytes), plan.tree.subtree(position) * shape.bytes,
                          kGatheredTeamTree);
  return children > 0 ? after(put, kGatheredTeamTree, children) : put;
}

Cost gather_team_tree_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const TeamTreeBlocks plan(shape);
  return {.messages = shape.ranks - 1,
          .bytes = plan.blocks_sent() * shape.bytes,
          .depth = plan.tree.depth(),
          .depth_is_limit = true};
}

}  // namespace

const Algorithm kGatherTeamTree{
    .name = "team-tree",
    .operation = Operation::gather,
    .parameters = {},
    .team_tree = true,
    .refusal = no_refusal,
    .needs = gather_team_tree_needs,
    .lanes = one_lane,
    .length = gather_team_tree_length,
    .step = gather_team_tree_step,
    .cost = gather_team_tree_cost,
};

}  // namespace aqueduct::coll
