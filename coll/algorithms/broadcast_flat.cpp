#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"

namespace aqueduct::coll {

// The root puts to every other member: few members, or a network that takes many puts at once.

namespace {

constexpr Parameter kBroadcastFlatParameters[] = {{"segments", 1, kMostSegments, 1}};

Tree broadcast_flat_shape(const Shape& shape) noexcept { return Tree::flat(shape.ranks); }
Needs broadcast_flat_needs(const Shape& shape) noexcept {
  return broadcast_tree_needs(shape, shape.parameters[0]);
}
std::uint32_t broadcast_flat_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  return broadcast_tree_length(shape, broadcast_flat_shape(shape), position, shape.parameters[0]);
}
Step broadcast_flat_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  return broadcast_tree_step(shape, broadcast_flat_shape(shape), position, index, shape.parameters[0]);
}
Cost broadcast_flat_cost(const Shape& shape) noexcept {
  return broadcast_tree_cost(shape, broadcast_flat_shape(shape), shape.parameters[0]);
}

}  // namespace

const Algorithm kBroadcastFlat{
    .name = "flat",
    .operation = Operation::broadcast,
    .parameters = kBroadcastFlatParameters,
    .refusal = no_refusal,
    .needs = broadcast_flat_needs,
    .lanes = one_lane,
    .length = broadcast_flat_length,
    .step = broadcast_flat_step,
    .cost = broadcast_flat_cost,
};

}  // namespace aqueduct::coll
