#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"

namespace aqueduct::coll {

// Down the tree of the team, which is whatever the program or the user gave.

namespace {

constexpr Parameter kBroadcastTeamTreeParameters[] = {{"segments", 1, kMostSegments, 1}};

RootedTeamTree broadcast_team_tree(const Shape& shape) noexcept { return {*shape.team_tree.of, shape.root}; }
Needs broadcast_team_tree_needs(const Shape& shape) noexcept {
  return broadcast_tree_needs(shape, shape.parameters[0]);
}
std::uint32_t broadcast_team_tree_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  return broadcast_tree_length(shape, broadcast_team_tree(shape), position, shape.parameters[0]);
}
Step broadcast_team_tree_step(const Shape& shape, Rank position, std::uint32_t,
                              std::uint32_t index) noexcept {
  return broadcast_tree_step(shape, broadcast_team_tree(shape), position, index, shape.parameters[0]);
}
Cost broadcast_team_tree_cost(const Shape& shape) noexcept {
  return broadcast_tree_cost(shape, broadcast_team_tree(shape), shape.parameters[0]);
}

}  // namespace

const Algorithm kBroadcastTeamTree{
    .name = "team-tree",
    .operation = Operation::broadcast,
    .parameters = kBroadcastTeamTreeParameters,
    .team_tree = true,
    .refusal = no_refusal,
    .needs = broadcast_team_tree_needs,
    .lanes = one_lane,
    .length = broadcast_team_tree_length,
    .step = broadcast_team_tree_step,
    .cost = broadcast_team_tree_cost,
};

}  // namespace aqueduct::coll
