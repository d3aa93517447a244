#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

#include <bit>

namespace aqueduct::coll {

// Dissemination on each host, then between the hosts. Of a host's q members the first q' take part, q' the largest power of
// two; each of the others gives its vector to one of them, and gets the result from it. In round r on a host, two members
// whose places there differ in bit r exchange what they have. So all that take part hold the vector of their host.
//
// Between hosts, round r pairs those whose numbers differ in bit r. Their leaders exchange, pass on what they have got, and
// all that take part combine it at the same time. Hosts beyond a power of two take no part: in each a tree brings the vector
// to the leader, which gives it to another host before these rounds, and passes on the result after them.
//
// All members combine alike, so all get the same bits. A leader sends log2 G messages between hosts, and log2 G for each
// member on its host: `hosts` and `hosts-tree` do with fewer, but there the members beside the leaders idle. Tiny vectors
// on fast networks; chosen by settings and the tuner alone.
//
// Source: Li, Hoefler and Snir, HPDC 2013, sections 2.3 and 2.5. They take q and G to be powers of two between hosts, and
// exchange with the member 2^r places before: then members do not combine alike.

namespace {

constexpr Counter kExtraCame = 0;   // the vector of a member that takes no part
constexpr Counter kHostCame = 1;    // the vector of a host that takes no part
constexpr Counter kResultCame = 2;  // the result, for those that take no part
constexpr Counter kFirstOnHost =
    3;  // one for each round on a host; behind them, one for each round between hosts

/// What the members and hosts do, the same on all of them.
struct HostsDissemination {
  const Groups& groups;
  std::uint64_t bytes;
  std::uint32_t most_on_host;  ///< rounds on the largest host
  std::uint32_t between;       ///< rounds between hosts
  Rank taking_part;            ///< hosts

  explicit HostsDissemination(const Shape& shape) noexcept
      : groups(*shape.groups.of),
        bytes(shape.bytes),
        most_on_host(static_cast<std::uint32_t>(std::bit_width(groups.most())) - 1),
        between(static_cast<std::uint32_t>(std::bit_width(groups.count())) - 1),
        taking_part(std::bit_floor(groups.count())) {}

  Counter on_host(std::uint32_t round) const noexcept { return static_cast<Counter>(kFirstOnHost + round); }
  Counter from_host(std::uint32_t round) const noexcept { return on_host(most_on_host + round); }
  std::uint32_t counters() const noexcept { return kFirstOnHost + most_on_host + between; }

  // Scratch: a slot for each counter.
  Place slot(Counter counter) const noexcept { return at(Space::scratch, counter * bytes); }
  /// What a member has after some of its reductions. Each has a place of its own, since a put of it may still be under way.
  Place partial(std::uint32_t stage) const noexcept { return at(Space::temp, stage * bytes); }
  /// After the vector that it begins with: the rounds on its host, a host's vector, the rounds between hosts but the last.
  std::uint32_t partials() const noexcept { return most_on_host + between + 1; }
};

/// One member's part.
struct HostsDisseminationMember {
  HostsDissemination plan;
  Rank host;
  Rank index;           ///< its place on the host
  Rank size;            ///< of the host
  Rank active;          ///< members of the host that take part
  std::uint32_t local;  ///< rounds on the host
  bool in_rounds;       ///< its host takes part in the rounds between hosts
  bool helps_host;      ///< for another host
  bool helps_member;    ///< this one takes part for another of its host

  HostsDisseminationMember(const Shape& shape, Rank position) noexcept
      : plan(shape),
        host(plan.groups.group_of(position)),
        index(plan.groups.place_of(position) - plan.groups.begin(host)),
        size(plan.groups.size(host)),
        active(std::bit_floor(size)),
        local(static_cast<std::uint32_t>(std::bit_width(size)) - 1),
        in_rounds(host < plan.taking_part),
        helps_host(in_rounds && host + plan.taking_part < plan.groups.count()),
        helps_member(index < active && index + active < size) {}

  bool takes_part() const noexcept { return index < active; }
  bool leads() const noexcept { return index == 0; }
  Rank mate(Rank of_index) const noexcept {
    return plan.groups.member_at(plan.groups.begin(host) + of_index);
  }

  /// Steps in which a vector from another host is taken in; the leader passes it on before.
  std::uint32_t taking_in() const noexcept { return (leads() ? active - 1 : 0) + 1; }
  Step take_in(std::uint32_t step, Counter counter, Place mine, bool is_left, Place to) const noexcept {
    const Place its = plan.slot(counter);
    const bool passes_on = step + 1 < taking_in();
    const Step what = passes_on ? put_to(mate(step + 1), its, its, plan.bytes, counter)
                      : is_left ? reduction(its, mine, to, plan.bytes)
                                : reduction(mine, its, to, plan.bytes);
    return step == 0 ? after(what, counter, 1) : what;
  }

  /// Of a host that takes no part in the rounds between hosts: the rounds on the host in which this member gets something. In
  /// the one behind them it gives what it has to another one; the leader gets something in all.
  std::uint32_t gathering() const noexcept {
    return leads() ? local : static_cast<std::uint32_t>(std::countr_zero(index));
  }

  std::uint32_t length() const noexcept {
    if (!takes_part()) return 2;
    const std::uint32_t to_member = helps_member ? 1 : 0;
    if (!in_rounds) return 1 + gathering() + 1 + (leads() ? active - 1 : 0) + to_member + 1;
    const std::uint32_t to_host = leads() && helps_host ? 1 : 0;
    return 1 + 2 * local + (helps_host ? taking_in() : 0) + plan.between * ((leads() ? 1 : 0) + taking_in()) +
           to_host + to_member;
  }

  Step step(std::uint32_t at_step) const noexcept {
    if (!takes_part()) {
      if (at_step == 0)
        return put_to(mate(index - active), at(Space::in, 0), plan.slot(kExtraCame), plan.bytes, kExtraCame);
      return after(copy_of(plan.slot(kResultCame), at(Space::out, 0), plan.bytes), kResultCame, 1);
    }
    if (at_step == 0) {
      if (!helps_member) return copy_of(at(Space::in, 0), plan.partial(0), plan.bytes);
      return after(reduction(at(Space::in, 0), plan.slot(kExtraCame), plan.partial(0), plan.bytes),
                   kExtraCame, 1);
    }
    --at_step;
    if (!in_rounds) return beside_rounds(at_step);
    if (at_step < 2 * local) return on_host(at_step / 2, at_step % 2 == 0);
    return between_hosts(at_step - 2 * local);
  }

  Step on_host(std::uint32_t round, bool sends) const noexcept {
    const Rank peer = index ^ (Rank{1} << round);
    const Counter counter = plan.on_host(round);
    const Place mine = plan.partial(round);
    const Place its = plan.slot(counter);
    if (sends) return put_to(mate(peer), mine, its, plan.bytes, counter);
    return after(
        reduction(index < peer ? mine : its, index < peer ? its : mine, plan.partial(round + 1), plan.bytes),
        counter, 1);
  }

  /// Of a host that takes part in the rounds between hosts.
  Step between_hosts(std::uint32_t at_step) const noexcept {
    std::uint32_t stage = local;
    if (helps_host) {
      if (at_step < taking_in())
        return take_in(at_step, kHostCame, plan.partial(stage), false, plan.partial(stage + 1));
      at_step -= taking_in();
      ++stage;
    }
    const std::uint32_t in_round = (leads() ? 1 : 0) + taking_in();
    const std::uint32_t round = at_step / in_round;
    if (round < plan.between) {
      at_step -= round * in_round;
      const Rank peer = host ^ (Rank{1} << round);
      const Counter counter = plan.from_host(round);
      const Place mine = plan.partial(stage + round);
      if (leads() && at_step == 0)
        return put_to(plan.groups.leader_of(peer), mine, plan.slot(counter), plan.bytes, counter);
      const Place to = round + 1 == plan.between ? at(Space::out, 0) : plan.partial(stage + round + 1);
      return take_in(at_step - (leads() ? 1 : 0), counter, mine, peer < host, to);
    }
    at_step -= plan.between * in_round;
    const bool to_host = leads() && helps_host && at_step == 0;
    return put_to(to_host ? plan.groups.leader_of(host + plan.taking_part) : mate(index + active),
                  at(Space::out, 0), plan.slot(kResultCame), plan.bytes, kResultCame);
  }

  /// Of a host that takes no part in them: a tree to its leader, which gives the vector away, and passes on the result.
  Step beside_rounds(std::uint32_t at_step) const noexcept {
    const std::uint32_t gets = gathering();
    if (at_step < gets) {
      const Counter counter = plan.on_host(at_step);
      return after(
          reduction(plan.partial(at_step), plan.slot(counter), plan.partial(at_step + 1), plan.bytes),
          counter, 1);
    }
    at_step -= gets;
    if (at_step == 0) {
      const Counter counter = leads() ? kHostCame : plan.on_host(gets);
      const Rank to = leads() ? plan.groups.leader_of(host - plan.taking_part) : mate(index & (index - 1));
      return put_to(to, plan.partial(gets), plan.slot(counter), plan.bytes, counter);
    }
    --at_step;
    const Place result = plan.slot(kResultCame);
    const std::uint32_t passed = leads() ? active - 1 : 0;
    const std::uint32_t puts = passed + (helps_member ? 1 : 0);
    const Step what = at_step < puts ? put_to(mate(at_step < passed ? at_step + 1 : index + active), result,
                                              result, plan.bytes, kResultCame)
                                     : copy_of(result, at(Space::out, 0), plan.bytes);
    return at_step == 0 ? after(what, kResultCame, 1) : what;
  }
};

const char* hosts_dissemination_refusal(const Shape& shape) noexcept {
  if (shape.order == Order::exact || !shape.commutative) return "it combines the vectors of a host first";
  return nullptr;
}

Needs hosts_dissemination_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  const HostsDissemination plan(shape);
  return {.scratch = plan.counters() * plan.bytes,
          .temp = plan.partials() * plan.bytes,
          .counters = plan.counters()};
}

std::uint32_t hosts_dissemination_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  return shape.bytes == 0 ? 0 : HostsDisseminationMember(shape, position).length();
}

Step hosts_dissemination_step(const Shape& shape, Rank position, std::uint32_t,
                              std::uint32_t index) noexcept {
  return HostsDisseminationMember(shape, position).step(index);
}

Cost hosts_dissemination_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  const HostsDissemination plan(shape);
  std::uint64_t messages = 0;
  bool extra_members = false;
  for (Rank host = 0; host < plan.groups.count(); ++host) {
    const Rank size = plan.groups.size(host);
    const std::uint64_t active = std::bit_floor(size);
    const auto local = static_cast<std::uint64_t>(std::bit_width(size)) - 1;
    messages += 2 * (size - active);
    extra_members = extra_members || size != active;
    if (host < plan.taking_part) {
      messages += active * local;
      messages += plan.between * active;  // from another leader, and to the others of the host
      if (host + plan.taking_part < plan.groups.count()) messages += active;  // the same
    } else {
      messages += active - 1 + active;  // to the leader; the result
    }
  }
  const bool extra_hosts = plan.taking_part != plan.groups.count();
  return {.messages = messages,
          .bytes = messages * plan.bytes,
          .depth = plan.most_on_host + plan.between + (plan.groups.most() > 1 ? 1u : 0u) +
                   (extra_members ? 2u : 0u) + (extra_hosts ? 2u : 0u),
          .depth_is_limit = true};
}

}  // namespace

const Algorithm kAllReduceHostsDissemination{
    .name = "hosts-dissemination",
    .operation = Operation::all_reduce,
    .parameters = {},
    .hosts = true,
    .refusal = hosts_dissemination_refusal,
    .needs = hosts_dissemination_needs,
    .lanes = one_lane,
    .length = hosts_dissemination_length,
    .step = hosts_dissemination_step,
    .cost = hosts_dissemination_cost,
};

}  // namespace aqueduct::coll
