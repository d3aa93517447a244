#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/groups_tree.hpp"

namespace aqueduct::coll {

// Down a tree of leaders, which get the blocks of their host and of the hosts below it in one message, then on each host from
// its leader to the others. The root leads its host. In scratch, blocks stand in the order of places from the root's host
// on, so that those of a subtree are one range. The root packs those of other
// hosts in that order, unless its input has it.
//
// Cost: P - 1 messages, of which G - 1 are between hosts. A block goes down as many edges as its member is deep.

namespace {

constexpr Parameter kScatterHostsParameters[] = {{"radix", 2, 64, 4}};
constexpr Counter kScatteredByHosts = 0;

struct ScatterHosts {
  const Groups& groups;
  GroupsTree tree;
  Rank root_host_at;  ///< the place of the first member of the root's host
  std::uint64_t bytes;
  bool packs;

  explicit ScatterHosts(const Shape& shape) noexcept
      : groups(*shape.groups.of),
        tree(groups, shape.root, shape.parameters[0]),
        root_host_at(groups.begin(groups.group_of(shape.root))),
        bytes(shape.bytes),
        packs(!groups.in_team_order() || shape.pitch != shape.bytes || root_host_at > 0) {}

  Place slot(Rank place) const noexcept { return at(Space::scratch, place * bytes); }
  // What the root packs: the blocks of other hosts, up to the last member and from member 0 on if places are positions.
  Rank root_host() const noexcept { return groups.size(groups.group_of(tree.root())); }
  Rank last_range() const noexcept { return groups.ranks() - root_host_at; }
  std::uint32_t packing() const noexcept {
    if (!packs) return 0;
    if (!groups.in_team_order()) return groups.ranks() - root_host();
    return (last_range() > root_host() ? 1 : 0) + (root_host_at > 0 ? 1 : 0);
  }
  Step pack(const Shape& shape, std::uint32_t index) const noexcept {
    const auto copy = [&](Rank place, Rank count) {
      const Rank member = groups.member_at((root_host_at + place) % groups.ranks());
      Step step = copy_of({Space::in, member * shape.pitch, shape.pitch},
                          {Space::scratch, place * bytes, bytes}, bytes);
      step.runs = count;
      return step;
    };
    if (!groups.in_team_order()) return copy(root_host() + index, 1);
    const bool around = index > 0 || last_range() == root_host();
    return around ? copy(last_range(), root_host_at) : copy(root_host(), last_range() - root_host());
  }
  Step pass_on(Rank child, Place from) const noexcept {
    const GroupsTree::Places its = tree.places(child);
    return put_to(child, from, slot(its.first), its.count * bytes, kScatteredByHosts);
  }
  Step pass_on(Rank child) const noexcept { return pass_on(child, slot(tree.places(child).first)); }
};

Needs scatter_hosts_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  return {.scratch = shape.ranks * shape.bytes, .counters = 1};
}

// The root may have to pack. Each puts to its children, and copies its own block to its output.
std::uint32_t scatter_hosts_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  const ScatterHosts plan(shape);
  return (plan.tree.is_root(position) ? plan.packing() : 0) + plan.tree.children(position) + 1;
}

Step scatter_hosts_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const ScatterHosts plan(shape);
  const std::uint32_t children = plan.tree.children(position);
  if (plan.tree.is_root(position)) {
    if (index < plan.packing()) return plan.pack(shape, index);
    index -= plan.packing();
    if (index == children)
      return copy_of(at(Space::in, position * shape.pitch), at(Space::out, 0), plan.bytes);
    const Rank child = plan.tree.child(position, index);
    const bool mate = plan.groups.group_of(child) == plan.groups.group_of(position);
    return plan.packs && !mate ? plan.pass_on(child)
                               : plan.pass_on(child, at(Space::in, child * shape.pitch));
  }
  const Step step = index < children
                        ? plan.pass_on(plan.tree.child(position, index))
                        : copy_of(plan.slot(plan.tree.place_of(position)), at(Space::out, 0), plan.bytes);
  return index == 0 ? after(step, kScatteredByHosts, 1) : step;
}

Cost scatter_hosts_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  const GroupsTree tree(*shape.groups.of, shape.root, shape.parameters[0]);
  return {.messages = shape.ranks - 1,
          .bytes = tree.blocks_moved() * shape.bytes,
          .depth = tree.depth(),
          .depth_is_limit = true};
}

}  // namespace

const Algorithm kScatterHosts{
    .name = "hosts",
    .operation = Operation::scatter,
    .parameters = kScatterHostsParameters,
    .hosts = true,
    .refusal = no_refusal,
    .needs = scatter_hosts_needs,
    .lanes = one_lane,
    .length = scatter_hosts_length,
    .step = scatter_hosts_step,
    .cost = scatter_hosts_cost,
};

}  // namespace aqueduct::coll
