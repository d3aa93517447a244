#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/arrivals.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/groups.hpp"

namespace aqueduct::coll {

// Scan and exscan where the members of each host are consecutive. They put their vectors to the leader of their host, which
// combines one after the other, up to that of its last member. Leaders find by recursive doubling what all hosts before
// theirs have; a leader combines that with what it has for each member, and puts it there. The operator need not commute.
//
// Cost: 2 (P - G) messages on hosts, of two vectors combined for each; between hosts those of a doubling of G.

namespace {

struct ScanHosts {
  const Groups& groups;
  Rank here;
  Rank group;
  Rank leader;
  Rank mates;
  bool exclusive;
  Rank givers;  ///< members of this host whose vectors are needed: not that of the last of all in an exscan
  std::uint64_t bytes;
  std::uint32_t rounds;    ///< of the doubling
  std::uint32_t receives;  ///< of this host's rounds: the first ones
  std::uint32_t sends;     ///< likewise
  ChildCounters from_mates;

  ScanHosts(const Shape& shape, Rank position) noexcept
      : groups(*shape.groups.of),
        here(position),
        group(groups.group_of(position)),
        leader(groups.leader_of(group)),
        mates(groups.size(group) - 1),
        exclusive(shape.operation == Operation::exscan),
        givers(mates + (exclusive && group + 1 == groups.count() ? 0 : 1)),
        bytes(shape.bytes),
        rounds(rounds_of(groups.count(), 2)),
        receives(rounds_of(group + 1, 2)),
        sends(rounds_of(groups.count() - group, 2)),
        from_mates(0, groups.most() - 1, shape.bytes) {}

  bool leads() const noexcept { return here == leader; }
  /// Among the members of its host.
  Rank number() const noexcept { return groups.place_of(here) - groups.begin(group); }
  Counter arrived(std::uint32_t round) const noexcept {
    return static_cast<Counter>(from_mates.count + round);
  }
  Counter result_came() const noexcept { return arrived(rounds); }
  std::uint32_t counters() const noexcept { return from_mates.count + rounds + 1; }

  // Scratch: at a leader the vector of each member of its host, which becomes the combination up to it; what came in each
  // round, which becomes that of all that came till then; this member's result.
  Place of_member(Rank index) const noexcept { return at(Space::scratch, index * bytes); }
  Place came(std::uint32_t round) const noexcept {
    return at(Space::scratch, (groups.most() + round) * bytes);
  }
  Place result() const noexcept { return came(rounds); }
  std::uint64_t scratch() const noexcept { return result().offset + bytes; }
  // Temporary memory: what is sent in each round but the first, the results of mates. An earlier put may be under way.
  Place sent(std::uint32_t round) const noexcept {
    return round == 0 ? of_member(mates) : at(Space::temp, (round - 1) * bytes);
  }
  Place for_mate(Rank index) const noexcept { return at(Space::temp, (rounds + index) * bytes); }
  std::uint64_t temp() const noexcept { return (rounds + groups.most() - 1) * bytes; }

  Place before() const noexcept { return came(receives - 1); }
  bool has_before() const noexcept { return group > 0; }

  /// A round's put; what is sent in the next round, or a wait; what came so far.
  std::uint32_t in_round(std::uint32_t round) const noexcept {
    return (round < sends ? 1 : 0) + (round < receives ? 1 : 0) + (round > 0 && round < receives ? 1 : 0);
  }
  Step round_step(std::uint32_t round, std::uint32_t index) const noexcept {
    if (round < sends) {
      if (index == 0)
        return put_to(groups.leader_of(group + (Rank{1} << round)), sent(std::min(round, receives)),
                      came(round), bytes, arrived(round));
      --index;
    }
    if (index == 1) return reduction(came(round), came(round - 1), came(round), bytes);
    const bool goes_on = round + 1 < sends;
    return after(goes_on ? reduction(came(round), sent(round), sent(round + 1), bytes) : Step{},
                 arrived(round), 1);
  }
  std::uint32_t in_rounds() const noexcept {
    std::uint32_t steps = 0;
    for (std::uint32_t round = 0; round < rounds; ++round) steps += in_round(round);
    return steps;
  }

  /// What the member of an index gets of its own host: the combination up to it, or up to the one before it.
  Place of_host(Rank index) const noexcept { return of_member(exclusive ? index - 1 : index); }
  /// A leader's steps at the end: for each mate a sum, if other hosts are before this one, and the put; its own result.
  std::uint32_t in_results() const noexcept {
    return mates * (has_before() ? 2 : 1) + (exclusive && !has_before() ? 0 : 1);
  }
  Step result_step(std::uint32_t index) const noexcept {
    const std::uint32_t each = has_before() ? 2 : 1;
    if (index / each < mates) {
      const Rank mate = index / each;
      const bool combines = has_before() && index % each == 0;
      if (combines) return reduction(before(), of_host(mate + 1), for_mate(mate), bytes);
      return put_to(groups.mate_of(here, mate), has_before() ? for_mate(mate) : of_host(mate + 1), result(),
                    bytes, result_came());
    }
    const Place to = at(Space::out, 0);
    if (exclusive) return copy_of(before(), to, bytes);
    return has_before() ? reduction(before(), of_host(0), to, bytes) : copy_of(of_host(0), to, bytes);
  }

  /// The own vector and those of mates; the rounds; the results.
  std::uint32_t leading() const noexcept { return givers + in_rounds() + in_results(); }
  Step lead(std::uint32_t index) const noexcept {
    if (index < givers) {
      if (index == 0) return copy_of(at(Space::in, 0), of_member(0), bytes);
      const Step step = reduction(of_member(index - 1), of_member(index), of_member(index), bytes);
      return from_mates.when_arrived(step, index - 1, givers - 1);
    }
    index -= givers;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      if (index < in_round(round)) return round_step(round, index);
      index -= in_round(round);
    }
    return result_step(index);
  }
};

const char* scan_hosts_refusal(const Shape& shape) noexcept {
  if (!shape.groups.of->in_team_order()) return "the members of a host do not follow one another";
  if (shape.order == Order::exact) return "it combines the vectors of a host first";
  return nullptr;
}

Needs scan_hosts_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  const ScanHosts plan(shape, 0);
  return {.scratch = plan.scratch(), .temp = plan.temp(), .counters = plan.counters()};
}

std::uint32_t scan_hosts_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  const ScanHosts plan(shape, position);
  if (plan.leads()) return plan.leading();
  return plan.number() < plan.givers ? 2 : 1;
}

Step scan_hosts_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const ScanHosts plan(shape, position);
  if (plan.leads()) return plan.lead(index);
  const Rank number = plan.number();
  if (index == 1 || number == plan.givers)
    return after(copy_of(plan.result(), at(Space::out, 0), plan.bytes), plan.result_came(), 1);
  return put_to(plan.leader, at(Space::in, 0), plan.of_member(number), plan.bytes,
                plan.from_mates.of(number - 1));
}

Cost scan_hosts_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  const Groups& groups = *shape.groups.of;
  const std::uint32_t rounds = rounds_of(groups.count(), 2);
  std::uint64_t messages = 2 * (std::uint64_t{shape.ranks} - groups.count());
  // Nobody needs the vector of the last member of all in an exscan.
  if (shape.operation == Operation::exscan && groups.size(groups.count() - 1) > 1) --messages;
  for (std::uint32_t round = 0; round < rounds; ++round)
    messages += groups.count() - (std::uint64_t{1} << round);
  return {.messages = messages, .bytes = messages * shape.bytes, .depth = rounds + 2, .depth_is_limit = true};
}

constexpr Algorithm scan_by_hosts(Operation operation) noexcept {
  return {
      .name = "hosts",
      .operation = operation,
      .parameters = {},
      .hosts = true,
      .refusal = scan_hosts_refusal,
      .needs = scan_hosts_needs,
      .lanes = one_lane,
      .length = scan_hosts_length,
      .step = scan_hosts_step,
      .cost = scan_hosts_cost,
  };
}

}  // namespace

const Algorithm kScanHosts = scan_by_hosts(Operation::scan);
const Algorithm kExscanHosts = scan_by_hosts(Operation::exscan);

}  // namespace aqueduct::coll
