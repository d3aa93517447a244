#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"

namespace aqueduct::coll {

// Every member has one child. With many segments all links are busy: long blocks, and lines of a torus.
// Time: (P - 2 + s)(latency + bytes/s · gap) with s segments.

namespace {

constexpr Parameter kBroadcastChainParameters[] = {{"segments", 1, kMostSegments, 8}};

Tree broadcast_chain_shape(const Shape& shape) noexcept { return {Tree::Kind::k_ary, 1, shape.ranks}; }
Needs broadcast_chain_needs(const Shape& shape) noexcept {
  return broadcast_tree_needs(shape, shape.parameters[0]);
}
std::uint32_t broadcast_chain_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  return broadcast_tree_length(shape, broadcast_chain_shape(shape), position, shape.parameters[0]);
}
Step broadcast_chain_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  return broadcast_tree_step(shape, broadcast_chain_shape(shape), position, index, shape.parameters[0]);
}
Cost broadcast_chain_cost(const Shape& shape) noexcept {
  return broadcast_tree_cost(shape, broadcast_chain_shape(shape), shape.parameters[0]);
}

}  // namespace

const Algorithm kBroadcastChain{
    .name = "chain",
    .operation = Operation::broadcast,
    .parameters = kBroadcastChainParameters,
    .refusal = no_refusal,
    .needs = broadcast_chain_needs,
    .lanes = one_lane,
    .length = broadcast_chain_length,
    .step = broadcast_chain_step,
    .cost = broadcast_chain_cost,
};

}  // namespace aqueduct::coll
