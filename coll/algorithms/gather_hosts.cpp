#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/groups_tree.hpp"

namespace aqueduct::coll {

// On each host to its leader, then up a tree of leaders: a leader puts the blocks of its host, and of the hosts below it, in
// one message. The root leads its host, and copies all to its output. In scratch, blocks stand in the order of places from
// the root's host on, so that those of a subtree are one range.
//
// Cost: P - 1 messages, of which G - 1 are between hosts. A block goes up as many edges as its member is deep.

namespace {

constexpr Parameter kGatherHostsParameters[] = {{"radix", 2, 64, 4}};
constexpr Counter kGatheredBelow = 0;

struct GatherHosts {
  const Groups& groups;
  GroupsTree tree;
  Rank here;
  std::uint64_t bytes;

  GatherHosts(const Shape& shape, Rank position) noexcept
      : groups(*shape.groups.of),
        tree(groups, shape.root, shape.parameters[0]),
        here(position),
        bytes(shape.bytes) {}

  Place slot(Rank place) const noexcept { return at(Space::scratch, place * bytes); }
  /// The root's copies from scratch, all but its own block: before and behind it up to the last member, and from member 0 on,
  /// if places are positions; else one for each place.
  std::uint32_t copies() const noexcept {
    if (!groups.in_team_order()) return groups.ranks() - 1;
    std::uint32_t count = 0;
    for (std::uint32_t range = 0; range < 3; ++range) count += range_length(range) > 0 ? 1 : 0;
    return count;
  }
  Rank first() const noexcept { return groups.begin(groups.group_of(here)); }
  Rank range_begin(std::uint32_t range) const noexcept {
    return range == 0 ? 0 : range == 1 ? tree.place_of(here) + 1 : groups.ranks() - first();
  }
  Rank range_length(std::uint32_t range) const noexcept {
    return range == 0 ? tree.place_of(here)
                      : (range == 1 ? groups.ranks() - first() : groups.ranks()) - range_begin(range);
  }
  Step copy(const Shape& shape, std::uint32_t index) const noexcept {
    if (!groups.in_team_order()) {
      const Rank place = (tree.place_of(here) + 1 + index) % groups.ranks();
      const Rank member = groups.member_at((first() + place) % groups.ranks());
      return copy_of(slot(place), at(Space::out, member * shape.pitch), bytes);
    }
    std::uint32_t range = 0;
    while (range_length(range) == 0 || index-- > 0) ++range;
    const Rank member = (first() + range_begin(range)) % groups.ranks();
    Step step = copy_of({Space::scratch, range_begin(range) * bytes, bytes},
                        {Space::out, member * shape.pitch, shape.pitch}, bytes);
    step.runs = range_length(range);
    return step;
  }
};

Needs gather_hosts_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  return {.scratch = shape.ranks * shape.bytes, .counters = 1};
}

// A member with others below it copies its own block; then its put, or the root's copies.
std::uint32_t gather_hosts_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  const GatherHosts plan(shape, position);
  if (plan.tree.is_root(position)) return 1 + plan.copies();
  return plan.tree.children(position) > 0 ? 2 : 1;
}

Step gather_hosts_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const GatherHosts plan(shape, position);
  const GroupsTree::Places mine = plan.tree.places(position);
  const std::uint32_t children = plan.tree.children(position);
  if (children == 0) {
    return put_to(plan.tree.parent(position), at(Space::in, 0), plan.slot(mine.first), plan.bytes,
                  kGatheredBelow);
  }
  const bool root = plan.tree.is_root(position);
  if (index == 0) {
    return copy_of(at(Space::in, 0),
                   root ? at(Space::out, position * shape.pitch) : plan.slot(plan.tree.place_of(position)),
                   plan.bytes);
  }
  if (root) {
    const Step copy = plan.copy(shape, index - 1);
    return index == 1 ? after(copy, kGatheredBelow, children) : copy;
  }
  return after(put_to(plan.tree.parent(position), plan.slot(mine.first), plan.slot(mine.first),
                      mine.count * plan.bytes, kGatheredBelow),
               kGatheredBelow, children);
}

Cost gather_hosts_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  const GroupsTree tree(*shape.groups.of, shape.root, shape.parameters[0]);
  return {.messages = shape.ranks - 1,
          .bytes = tree.blocks_moved() * shape.bytes,
          .depth = tree.depth(),
          .depth_is_limit = true};
}

}  // namespace

const Algorithm kGatherHosts{
    .name = "hosts",
    .operation = Operation::gather,
    .parameters = kGatherHostsParameters,
    .hosts = true,
    .refusal = no_refusal,
    .needs = gather_hosts_needs,
    .lanes = one_lane,
    .length = gather_hosts_length,
    .step = gather_hosts_step,
    .cost = gather_hosts_cost,
};

}  // namespace aqueduct::coll
