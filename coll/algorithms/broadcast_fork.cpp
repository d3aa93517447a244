#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"
#include "coll/algorithms/fork.hpp"

namespace aqueduct::coll {

// Along the links of a mesh or torus: long blocks where links are narrow, and every message goes over one of them. The
// deepest of the trees: sum of the dimensions, less one each.

namespace {

constexpr Parameter kBroadcastForkParameters[] = {kForkRow, kForkRows, {"segments", 1, kMostSegments, 1}};

Needs broadcast_fork_needs(const Shape& shape) noexcept {
  return broadcast_tree_needs(shape, shape.parameters[2]);
}
std::uint32_t broadcast_fork_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  return broadcast_tree_length(shape, fork_tree(shape), position, shape.parameters[2]);
}
Step broadcast_fork_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  return broadcast_tree_step(shape, fork_tree(shape), position, index, shape.parameters[2]);
}
Cost broadcast_fork_cost(const Shape& shape) noexcept {
  return broadcast_tree_cost(shape, fork_tree(shape), shape.parameters[2]);
}

}  // namespace

const Algorithm kBroadcastFork{
    .name = "fork",
    .operation = Operation::broadcast,
    .parameters = kBroadcastForkParameters,
    .refusal = no_refusal,
    .needs = broadcast_fork_needs,
    .lanes = one_lane,
    .length = broadcast_fork_length,
    .step = broadcast_fork_step,
    .cost = broadcast_fork_cost,
};

}  // namespace aqueduct::coll
