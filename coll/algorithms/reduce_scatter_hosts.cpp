#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/arrivals.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/groups.hpp"

namespace aqueduct::coll {

// The members of a host put all their blocks to its leader, which combines them; a leader puts to each other leader the
// combined blocks of that one's members, combines what it gets, and puts each result to its member. Blocks stand in the
// order of places. An operator that does not commute needs the members of each host to be consecutive.
//
// Short blocks: a leader combines n P blocks of its n members.
// Cost: 2 (P - G) messages on hosts, G (G - 1) between them; a combined block crosses to its host once from each other.

namespace {

struct ReduceScatterHosts {
  const Groups& groups;
  Rank here;
  Rank group;
  Rank leader;
  Rank mates;
  std::uint64_t bytes;
  std::uint64_t all;  ///< bytes of the blocks for all members
  bool packs;
  ChildCounters from_mates;
  MemberCounters from_hosts;

  ReduceScatterHosts(const Shape& shape, Rank position) noexcept
      : groups(*shape.groups.of),
        here(position),
        group(groups.group_of(position)),
        leader(groups.leader_of(group)),
        mates(groups.size(group) - 1),
        bytes(shape.bytes),
        all(shape.ranks * shape.bytes),
        packs(!groups.in_team_order() || shape.pitch != shape.bytes),
        from_mates(0, groups.most() - 1, shape.bytes),
        from_hosts(static_cast<Counter>(from_mates.count), groups.count(), shape.bytes) {}

  bool leads() const noexcept { return here == leader; }
  Rank hosts() const noexcept { return groups.count(); }
  Counter result_came() const noexcept { return static_cast<Counter>(from_hosts.first + from_hosts.count); }
  std::uint32_t counters() const noexcept { return from_mates.count + from_hosts.count + 1; }

  // Scratch: a vector of each mate, the range of each host, this member's result.
  Place of_mate(std::uint32_t index) const noexcept { return at(Space::scratch, index * all); }
  std::uint64_t ranges_at() const noexcept { return (groups.most() - 1) * all; }
  Place of_host(Rank host) const noexcept {
    return at(Space::scratch, ranges_at() + std::uint64_t{host} * groups.most() * bytes);
  }
  Place result() const noexcept { return of_host(hosts()); }
  std::uint64_t scratch() const noexcept { return result().offset + bytes; }

  // Temporary memory: a vector, then the range of this host.
  Place vector(bool combined) const noexcept { return at(combined || packs ? Space::temp : Space::in, 0); }
  Place range(Rank host) const noexcept {
    Place place = vector(mates > 0);
    place.offset += groups.begin(host) * bytes;
    return place;
  }
  Place combined() const noexcept { return at(Space::temp, all); }
  std::uint64_t temp() const noexcept { return all + groups.most() * bytes; }

  std::uint32_t packing() const noexcept { return !packs ? 0 : groups.in_team_order() ? 1 : groups.ranks(); }
  Step pack(const Shape& shape, std::uint32_t index) const noexcept {
    Step step = copy_of({Space::in, groups.member_at(index) * shape.pitch, shape.pitch},
                        {Space::temp, index * bytes, bytes}, bytes);
    if (groups.in_team_order()) step.runs = shape.ranks;
    return step;
  }

  /// A leader's, after packing: the vectors of its mates, the puts to other hosts, their ranges, a put for each mate, the copy.
  std::uint32_t leading() const noexcept { return mates + 2 * (hosts() - 1) + mates + 1; }
  Step lead(std::uint32_t index) const noexcept {
    const Rank others = hosts() - 1;
    if (index < mates) {
      return from_mates.when_arrived(reduction(vector(index > 0), of_mate(index), vector(true), all), index,
                                     mates);
    }
    index -= mates;
    if (index < others) {
      const Rank host = (group + 1 + index) % hosts();
      return put_to(groups.leader_of(host), range(host), of_host(group), groups.size(host) * bytes,
                    from_hosts.of(group));
    }
    index -= others;
    if (index < others) {
      const auto value = [&](Rank host) { return host == group ? range(group) : of_host(host); };
      const Step step =
          reduction(index == 0 ? value(0) : combined(), value(index + 1), combined(), (mates + 1) * bytes);
      return from_hosts.when_arrived(step, index, group);
    }
    index -= others;
    Place its = combined();
    if (index == mates) return copy_of(its, at(Space::out, 0), bytes);
    its.offset += (1 + index) * bytes;
    return put_to(groups.mate_of(here, index), its, result(), bytes, result_came());
  }
};

const char* reduce_scatter_hosts_refusal(const Shape& shape) noexcept {
  if (shape.order == Order::exact) return "it combines the blocks of a host first";
  if (!shape.commutative && !shape.groups.of->in_team_order())
    return "it combines the blocks of a host first, whose members do not follow one another";
  return nullptr;
}

Needs reduce_scatter_hosts_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  const ReduceScatterHosts plan(shape, 0);
  return {.scratch = plan.scratch(), .temp = plan.temp(), .counters = plan.counters()};
}

std::uint32_t reduce_scatter_hosts_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  const ReduceScatterHosts plan(shape, position);
  return plan.packing() + (plan.leads() ? plan.leading() : 2);
}

Step reduce_scatter_hosts_step(const Shape& shape, Rank position, std::uint32_t,
                               std::uint32_t index) noexcept {
  const ReduceScatterHosts plan(shape, position);
  if (index < plan.packing()) return plan.pack(shape, index);
  index -= plan.packing();
  if (plan.leads()) return plan.lead(index);
  if (index == 1) return after(copy_of(plan.result(), at(Space::out, 0), plan.bytes), plan.result_came(), 1);
  const Rank mate = plan.groups.place_of(position) - plan.groups.begin(plan.group) - 1;
  return put_to(plan.leader, plan.vector(false), plan.of_mate(mate), plan.all, plan.from_mates.of(mate));
}

Cost reduce_scatter_hosts_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  const Groups& groups = *shape.groups.of;
  const std::uint64_t on_hosts = shape.ranks - groups.count();
  const std::uint64_t between = groups.count() - 1;
  return {.messages = 2 * on_hosts + groups.count() * between,
          .bytes = (on_hosts * shape.ranks + between * shape.ranks + on_hosts) * shape.bytes,
          .depth = 3,
          .depth_is_limit = true};
}

}  // namespace

const Algorithm kReduceScatterHosts{
    .name = "hosts",
    .operation = Operation::reduce_scatter,
    .parameters = {},
    .hosts = true,
    .refusal = reduce_scatter_hosts_refusal,
    .needs = reduce_scatter_hosts_needs,
    .lanes = one_lane,
    .length = reduce_scatter_hosts_length,
    .step = reduce_scatter_hosts_step,
    .cost = reduce_scatter_hosts_cost,
};

}  // namespace aqueduct::coll
