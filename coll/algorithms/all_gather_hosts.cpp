#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/groups.hpp"

namespace aqueduct::coll {

// The members of a host put their blocks to its leader, each leader puts those of its host to all others, and all blocks
// to its members. In scratch, blocks stand in the order of places, so that those of a host are one range.
//
// Cost: 2 (P - G) messages on hosts, G (G - 1) between them; a block crosses to each other host once.

namespace {

constexpr Counter kGatheredHost = 0;   // at a leader: blocks of its members
constexpr Counter kGatheredHosts = 1;  // at a leader: ranges of the other leaders
constexpr Counter kGatheredAll = 2;    // at the others: the range of all

struct Gathered {
  const Groups& groups;
  Rank here;
  Rank group;
  Rank leader;
  Rank others;  ///< members of this host beside its leader
  std::uint64_t bytes;

  Gathered(const Shape& shape, Rank position) noexcept
      : groups(*shape.groups.of),
        here(position),
        group(groups.group_of(position)),
        leader(groups.leader_of(group)),
        others(groups.size(group) - 1),
        bytes(shape.bytes) {}

  bool leads() const noexcept { return here == leader; }
  Place slot(Rank place) const noexcept { return at(Space::scratch, place * bytes); }
  /// The copies of blocks to the output: one, if they stand there as in scratch.
  std::uint32_t copies(const Shape& shape) const noexcept {
    return groups.in_team_order() && shape.pitch == shape.bytes ? 1 : shape.ranks;
  }
  Step copy(const Shape& shape, std::uint32_t index) const noexcept {
    if (copies(shape) == 1) return copy_of(slot(0), at(Space::out, 0), shape.ranks * bytes);
    return copy_of(slot(index), at(Space::out, groups.member_at(index) * shape.pitch), bytes);
  }
};

Needs all_gather_hosts_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  return {.scratch = shape.ranks * shape.bytes, .counters = 3};
}

// A leader: its own block to scratch, its host's range to each other leader, all to each of its members, the copies. The
// others: their block to the leader, the copies.
std::uint32_t all_gather_hosts_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  const Gathered plan(shape, position);
  if (!plan.leads()) return 1 + plan.copies(shape);
  return plan.groups.count() + plan.others + plan.copies(shape);
}

Step gathering_leaders_step(const Shape& shape, const Gathered& plan, std::uint32_t index) noexcept {
  const Groups& groups = plan.groups;
  const Rank begin = groups.begin(plan.group);
  if (index == 0) return copy_of(at(Space::in, 0), plan.slot(begin), plan.bytes);
  if (index < groups.count()) {
    const Rank peer = (plan.group + index) % groups.count();
    const Step put = put_to(groups.leader_of(peer), plan.slot(begin), plan.slot(begin),
                            (plan.others + 1) * plan.bytes, kGatheredHosts);
    return index == 1 && plan.others > 0 ? after(put, kGatheredHost, plan.others) : put;
  }
  index -= groups.count();
  const Step step = index < plan.others ? put_to(groups.member_at(begin + 1 + index), plan.slot(0),
                                                 plan.slot(0), shape.ranks * plan.bytes, kGatheredAll)
                                        : plan.copy(shape, index - plan.others);
  return index == 0 ? after(step, kGatheredHosts, groups.count() - 1) : step;
}

Step all_gather_hosts_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const Gathered plan(shape, position);
  if (plan.leads()) return gathering_leaders_step(shape, plan, index);
  if (index == 0) {
    return put_to(plan.leader, at(Space::in, 0), plan.slot(plan.groups.place_of(position)), plan.bytes,
                  kGatheredHost);
  }
  const Step copy = plan.copy(shape, index - 1);
  return index == 1 ? after(copy, kGatheredAll, 1) : copy;
}

Cost all_gather_hosts_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  const Groups& groups = *shape.groups.of;
  const std::uint64_t on_hosts = shape.ranks - groups.count();
  const std::uint64_t between = groups.count() - 1;
  return {.messages = 2 * on_hosts + groups.count() * between,
          .bytes = (on_hosts + between * shape.ranks + on_hosts * shape.ranks) * shape.bytes,
          .depth = 3,
          .depth_is_limit = true};
}

}  // namespace

const Algorithm kAllGatherHosts{
    .name = "hosts",
    .operation = Operation::all_gather,
    .parameters = {},
    .hosts = true,
    .refusal = no_refusal,
    .needs = all_gather_hosts_needs,
    .lanes = one_lane,
    .length = all_gather_hosts_length,
    .step = all_gather_hosts_step,
    .cost = all_gather_hosts_cost,
};

}  // namespace aqueduct::coll
