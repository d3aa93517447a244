#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"

namespace aqueduct::coll {

// The root is busy as long as the bytes are on their way: the usual choice for short blocks.

namespace {

constexpr Parameter kBroadcastKNomialParameters[] = {{"radix", 2, 64, 4}, {"segments", 1, kMostSegments, 1}};

Tree broadcast_k_nomial_shape(const Shape& shape) noexcept {
  return {Tree::Kind::k_nomial, shape.parameters[0], shape.ranks};
}
Needs broadcast_k_nomial_needs(const Shape& shape) noexcept {
  return broadcast_tree_needs(shape, shape.parameters[1]);
}
std::uint32_t broadcast_k_nomial_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  return broadcast_tree_length(shape, broadcast_k_nomial_shape(shape), position, shape.parameters[1]);
}
Step broadcast_k_nomial_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  return broadcast_tree_step(shape, broadcast_k_nomial_shape(shape), position, index, shape.parameters[1]);
}
Cost broadcast_k_nomial_cost(const Shape& shape) noexcept {
  return broadcast_tree_cost(shape, broadcast_k_nomial_shape(shape), shape.parameters[1]);
}

}  // namespace

const Algorithm kBroadcastKNomial{
    .name = "k-nomial",
    .operation = Operation::broadcast,
    .parameters = kBroadcastKNomialParameters,
    .refusal = no_refusal,
    .needs = broadcast_k_nomial_needs,
    .lanes = one_lane,
    .length = broadcast_k_nomial_length,
    .step = broadcast_k_nomial_step,
    .cost = broadcast_k_nomial_cost,
};

}  // namespace aqueduct::coll
