#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"

namespace aqueduct::coll {

// Between hosts down a tree of leaders, on each host from its leader to the others: every byte crosses to a host once.

namespace {

constexpr Parameter kBroadcastHostsParameters[] = {{"radix", 2, 64, 4}, {"segments", 1, kMostSegments, 1}};

GroupsTree broadcast_hosts_tree(const Shape& shape) noexcept {
  return {*shape.groups.of, shape.root, shape.parameters[0]};
}
Needs broadcast_hosts_needs(const Shape& shape) noexcept {
  return broadcast_tree_needs(shape, shape.parameters[1]);
}
std::uint32_t broadcast_hosts_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  return broadcast_tree_length(shape, broadcast_hosts_tree(shape), position, shape.parameters[1]);
}
Step broadcast_hosts_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  return broadcast_tree_step(shape, broadcast_hosts_tree(shape), position, index, shape.parameters[1]);
}
Cost broadcast_hosts_cost(const Shape& shape) noexcept {
  return broadcast_tree_cost(shape, broadcast_hosts_tree(shape), shape.parameters[1]);
}

}  // namespace

const Algorithm kBroadcastHosts{
    .name = "hosts",
    .operation = Operation::broadcast,
    .parameters = kBroadcastHostsParameters,
    .hosts = true,
    .refusal = no_refusal,
    .needs = broadcast_hosts_needs,
    .lanes = one_lane,
    .length = broadcast_hosts_length,
    .step = broadcast_hosts_step,
    .cost = broadcast_hosts_cost,
};

}  // namespace aqueduct::coll
