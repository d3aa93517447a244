#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/arrivals.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/groups_tree.hpp"

namespace aqueduct::coll {

// On each host to its leader, then up a tree of leaders: one vector leaves a host. A parent has a slot for each child.
//
// Cost: P - 1 messages, of which G - 1 are between hosts.

namespace {

constexpr Parameter kReduceHostsParameters[] = {{"radix", 2, 64, 2}};

GroupsTree reduce_hosts_tree(const Shape& shape) noexcept {
  return {*shape.groups.of, shape.root, shape.parameters[0]};
}

const char* reduce_hosts_refusal(const Shape& shape) noexcept {
  if (shape.order == Order::exact || !shape.commutative) return "it combines the vectors of a host first";
  return nullptr;
}

Needs reduce_hosts_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  return {.scratch = reduce_hosts_tree(shape).most_children() * shape.bytes,
          .temp = shape.bytes,
          .counters = child_counters(0, reduce_hosts_tree(shape), shape.bytes).count};
}

// A reduction for each child, and a put to the parent.
std::uint32_t reduce_hosts_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return reduce_hosts_tree(shape).children(position) + (position == shape.root ? 0 : 1);
}

Step reduce_hosts_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const GroupsTree tree = reduce_hosts_tree(shape);
  const auto slot = [&](std::uint32_t child) { return at(Space::scratch, child * shape.bytes); };
  const ChildCounters counters = child_counters(0, tree, shape.bytes);
  const std::uint32_t children = tree.children(position);
  const Place sum = at(tree.is_root(position) ? Space::out : Space::temp, 0);
  if (index == children) {
    return put_to(tree.parent(position), children > 0 ? sum : at(Space::in, 0), slot(tree.index_of(position)),
                  shape.bytes, counters.of(tree.index_of(position)));
  }
  const Step step = reduction(index == 0 ? at(Space::in, 0) : sum, slot(index), sum, shape.bytes);
  return counters.when_arrived(step, index, children);
}

Cost reduce_hosts_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  return {.messages = shape.ranks - 1,
          .bytes = (shape.ranks - 1) * shape.bytes,
          .depth = reduce_hosts_tree(shape).depth(),
          .depth_is_limit = true};
}

}  // namespace

const Algorithm kReduceHosts{
    .name = "hosts",
    .operation = Operation::reduce,
    .parameters = kReduceHostsParameters,
    .hosts = true,
    .refusal = reduce_hosts_refusal,
    .needs = reduce_hosts_needs,
    .lanes = one_lane,
    .length = reduce_hosts_length,
    .step = reduce_hosts_step,
    .cost = reduce_hosts_cost,
};

}  // namespace aqueduct::coll
