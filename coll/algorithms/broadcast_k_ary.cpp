#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"

namespace aqueduct::coll {

// Every member has at most `radix` children, whose subtrees have nearly equal sizes.

namespace {

constexpr Parameter kBroadcastKAryParameters[] = {{"radix", 2, 64, 2}, {"segments", 1, kMostSegments, 1}};

Tree broadcast_k_ary_shape(const Shape& shape) noexcept {
  return {Tree::Kind::k_ary, shape.parameters[0], shape.ranks};
}
Needs broadcast_k_ary_needs(const Shape& shape) noexcept {
  return broadcast_tree_needs(shape, shape.parameters[1]);
}
std::uint32_t broadcast_k_ary_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  return broadcast_tree_length(shape, broadcast_k_ary_shape(shape), position, shape.parameters[1]);
}
Step broadcast_k_ary_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  return broadcast_tree_step(shape, broadcast_k_ary_shape(shape), position, index, shape.parameters[1]);
}
std::size_t broadcast_k_ary_notes(const Shape& shape) noexcept {
  return SizedTree::notes(broadcast_k_ary_shape(shape));
}
void broadcast_k_ary_write(const Shape& shape, std::span<std::int8_t> notes) noexcept {
  SizedTree::note(broadcast_k_ary_shape(shape), notes);
}
Step broadcast_k_ary_noted_step(const Shape& shape, std::span<const std::int8_t> notes, Rank position,
                                std::uint32_t, std::uint32_t index) noexcept {
  return broadcast_tree_step(shape, SizedTree(broadcast_k_ary_shape(shape), shape.root, notes), position,
                             index, shape.parameters[1]);
}

constexpr Noted kBroadcastKAryNoted{broadcast_k_ary_notes, broadcast_k_ary_write, broadcast_k_ary_noted_step,
                                    noted_brief_by<broadcast_k_ary_noted_step>};

Cost broadcast_k_ary_cost(const Shape& shape) noexcept {
  return broadcast_tree_cost(shape, broadcast_k_ary_shape(shape), shape.parameters[1]);
}

}  // namespace

const Algorithm kBroadcastKAry{
    .name = "k-ary",
    .operation = Operation::broadcast,
    .parameters = kBroadcastKAryParameters,
    .refusal = no_refusal,
    .needs = broadcast_k_ary_needs,
    .lanes = one_lane,
    .length = broadcast_k_ary_length,
    .step = broadcast_k_ary_step,
    .cost = broadcast_k_ary_cost,
    .noted = &kBroadcastKAryNoted,
};

}  // namespace aqueduct::coll
