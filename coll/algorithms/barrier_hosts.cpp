#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/groups_pass.hpp"

namespace aqueduct::coll {

// The members of a host report to its leader, leaders disseminate, and release their members (coll/schedule/groups_pass.hpp).

namespace {

constexpr Parameter kBarrierHostsParameters[] = {{"radix", 2, 64, 2}};

GroupsPass barrier_hosts_pass(const Shape& shape) noexcept {
  return {*shape.groups.of, 0, shape.parameters[0], 0};
}
Needs barrier_hosts_needs(const Shape& shape) noexcept {
  return {.counters = barrier_hosts_pass(shape).counters()};
}
std::uint32_t barrier_hosts_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  return barrier_hosts_pass(shape).length(position);
}
Step barrier_hosts_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  return barrier_hosts_pass(shape).step(position, index);
}
Cost barrier_hosts_cost(const Shape& shape) noexcept {
  const GroupsPass pass = barrier_hosts_pass(shape);
  return {.messages = pass.messages(), .depth = pass.depth(), .depth_is_limit = true};
}

}  // namespace

const Algorithm kBarrierHosts{
    .name = "hosts",
    .operation = Operation::barrier,
    .parameters = kBarrierHostsParameters,
    .hosts = true,
    .refusal = no_refusal,
    .needs = barrier_hosts_needs,
    .lanes = one_lane,
    .length = barrier_hosts_length,
    .step = barrier_hosts_step,
    .cost = barrier_hosts_cost,
};

}  // namespace aqueduct::coll
