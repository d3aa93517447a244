#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/groups.hpp"

namespace aqueduct::coll {

// One message for each pair of hosts. A member hands its leader the blocks for the members of every other host, where they
// lie as the message to that host needs them: by senders, for each by receivers. Leaders exchange these messages, and hand
// out to each member the blocks for it. Members of a host put their blocks to one another directly.
//
// On a host of n members a leader takes in n (P - n) blocks, sends and receives as many, and hands out (n - 1) (P - n).
//
// Cost: G (G - 1) messages between hosts; a block of another host moves three times.

namespace {

constexpr Counter kHandedIn = 0;          // at a leader: blocks for other hosts
constexpr Counter kExchangedByHosts = 1;  // at a leader: messages of the other leaders
constexpr Counter kHandedOut = 2;         // blocks for this member

struct ExchangeByHosts {
  const Groups& groups;
  Rank here;
  Rank group;
  Rank leader;
  Rank size;   ///< of this host
  Rank begin;  ///< its first place
  std::uint64_t bytes;
  std::uint64_t ranks;
  bool packs;  ///< the input has the blocks in another order, or with gaps

  ExchangeByHosts(const Shape& shape, Rank position) noexcept
      : groups(*shape.groups.of),
        here(position),
        group(groups.group_of(position)),
        leader(groups.leader_of(group)),
        size(groups.size(group)),
        begin(groups.begin(group)),
        bytes(shape.bytes),
        ranks(shape.ranks),
        packs(!groups.in_team_order() || shape.pitch != shape.bytes) {}

  bool leads() const noexcept { return here == leader; }
  Rank other_hosts() const noexcept { return groups.count() - 1; }
  Rank host_behind(std::uint32_t index) const noexcept { return (group + 1 + index) % groups.count(); }

  // Scratch: at leaders what members hand in, and what other leaders send; at each member a slot for every place.
  static std::uint64_t blocks_of_leaders(const Groups& of) noexcept {
    return std::uint64_t{of.most()} * of.ranks();
  }
  /// For `host`, from this host's members from the index-th on.
  Place handed_in(Rank host, Rank index) const noexcept {
    return at(Space::scratch,
              (std::uint64_t{size} * groups.begin(host) + std::uint64_t{index} * groups.size(host)) * bytes);
  }
  /// At the leader of `host`, from the sender at a place on: a block for each of its members.
  Place exchanged(Rank host, Rank place) const noexcept {
    return at(Space::scratch, (blocks_of_leaders(groups) + std::uint64_t{place} * groups.size(host)) * bytes);
  }
  Place slot(Rank place) const noexcept {
    return {Space::scratch, (2 * blocks_of_leaders(groups) + place) * bytes, bytes};
  }

  // The places of other hosts, as one range or two.
  std::uint32_t ranges() const noexcept { return begin > 0 && begin + size < ranks ? 2 : 1; }
  Rank range_begin(std::uint32_t range) const noexcept { return range == 0 && begin > 0 ? 0 : begin + size; }
  std::uint64_t range_length(std::uint32_t range) const noexcept {
    return range_begin(range) == 0 ? begin : ranks - begin - size;
  }

  // Before all else: the blocks for other hosts in the order of places, without gaps; a leader's right where they go out from,
  // by hosts. What stands so in the input is sent from there.
  bool sends_from_input() const noexcept { return !packs && (!leads() || size == 1); }
  std::uint32_t packing() const noexcept {
    if (sends_from_input()) return 0;
    if (!groups.in_team_order()) return groups.ranks() - size;
    return leads() ? other_hosts() : ranges();
  }
  Step pack(const Shape& shape, std::uint32_t index) const noexcept {
    Rank place = 0;
    std::uint64_t count = 1;
    if (!groups.in_team_order()) {
      place = index + (index >= begin ? size : 0);
    } else if (leads()) {
      place = groups.begin(host_behind(index));
      count = groups.size(host_behind(index));
    } else {
      place = range_begin(index);
      count = range_length(index);
    }
    const Rank host = groups.group_of(groups.member_at(place));
    Place to = leads() ? handed_in(host, 0) : at(Space::temp, groups.begin(host) * bytes);
    to.offset += (place - groups.begin(host)) * bytes;
    to.pitch = bytes;
    Step step = copy_of({Space::in, groups.member_at(place) * shape.pitch, shape.pitch}, to, bytes);
    step.runs = count;
    return step;
  }

  /// The blocks of a range for the index-th member of this host.
  Step hand_out(std::uint32_t range, Rank index) const noexcept {
    Place from = exchanged(group, range_begin(range));
    from.offset += index * bytes;
    from.pitch = size * bytes;
    Step step = put_to(groups.member_at(begin + index), from, slot(range_begin(range)), bytes, kHandedOut);
    step.runs = range_length(range);
    return step;
  }

  /// What this member copies to its output at the end, beside its own block: at most `ranges` and one or two copies if places
  /// are positions, else one for each place.
  std::uint32_t copies() const noexcept {
    if (!groups.in_team_order()) return groups.ranks() - 1;
    if (leads()) return ranges() + (size > 1 ? 1 : 0);
    return here > 0 && here + 1 < ranks ? 2 : 1;
  }
  Step copy(const Shape& shape, std::uint32_t index) const noexcept {
    if (!groups.in_team_order()) {
      // A leader begins with the places of its own host, itself left out, which is the first there.
      const auto place = static_cast<Rank>(leads() ? (begin + 1 + index) % ranks
                                                   : index + (index >= groups.place_of(here) ? 1 : 0));
      const bool from_afar = leads() && groups.group_of(groups.member_at(place)) != group;
      return copy_of(from_afar ? exchanged(group, place) : slot(place),
                     at(Space::out, groups.member_at(place) * shape.pitch), bytes);
    }
    Rank first = 0;
    std::uint64_t count = 0;
    Place from;
    if (leads() && (size == 1 || index > 0)) {
      const std::uint32_t range = index - (size > 1 ? 1 : 0);
      first = range_begin(range);
      count = range_length(range);
      from = exchanged(group, first);
      from.pitch = size * bytes;
    } else {
      const bool before = !leads() && index == 0 && here > 0;
      first = before ? 0 : here + 1;
      count = before ? here : leads() ? size - 1 : ranks - here - 1;
      from = slot(first);
    }
    Step step = copy_of(from, {Space::out, first * shape.pitch, shape.pitch}, bytes);
    step.runs = count;
    return step;
  }

  /// What is for another host goes on its way: from a leader there, from the others to their leader.
  Step send(std::uint32_t index) const noexcept {
    const Rank host = host_behind(index);
    const std::uint64_t length = groups.size(host) * bytes;
    const Place mine = at(packs ? Space::temp : Space::in, groups.begin(host) * bytes);
    if (!leads())
      return put_to(leader, mine, handed_in(host, groups.place_of(here) - begin), length, kHandedIn);
    const Step put = put_to(groups.leader_of(host), sends_from_input() ? mine : handed_in(host, 0),
                            exchanged(host, begin), size * length, kExchangedByHosts);
    return index == 0 && size > 1 ? after(put, kHandedIn, (size - 1) * other_hosts()) : put;
  }
  /// A leader's, after its sending and the blocks for its mates.
  std::uint32_t handing_out() const noexcept { return leads() ? (size - 1) * ranges() : 0; }
};

/// A leader counts a put of each other member of its host for every other host, by a counter of 16 bits.
const char* all_to_all_hosts_refusal(const Shape& shape) noexcept {
  const std::uint64_t most = shape.groups.of->most();
  const std::uint64_t others = shape.groups.of->count() - 1;
  return (most - 1) * others <= 0xffff ? nullptr : "a leader gets more than 65,535 messages of its host";
}

Needs all_to_all_hosts_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  const Groups& groups = *shape.groups.of;
  return {.scratch = (2 * ExchangeByHosts::blocks_of_leaders(groups) + shape.ranks) * shape.bytes,
          .temp = shape.ranks * shape.bytes,
          .counters = 3};
}

// Packing; what goes to other hosts; a put to each mate; the own block; a leader's handing out; the copies to the output.
std::uint32_t all_to_all_hosts_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  const ExchangeByHosts plan(shape, position);
  return plan.packing() + plan.other_hosts() + (plan.size - 1) + 1 + plan.handing_out() + plan.copies();
}

Step all_to_all_hosts_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const ExchangeByHosts plan(shape, position);
  const Rank mates = plan.size - 1;
  if (index < plan.packing()) return plan.pack(shape, index);
  index -= plan.packing();
  if (index < plan.other_hosts()) return plan.send(index);
  index -= plan.other_hosts();
  if (index < mates) {
    const Rank mate = plan.groups.mate_of(position, index);
    return put_to(mate, at(Space::in, mate * shape.pitch), plan.slot(plan.groups.place_of(position)),
                  plan.bytes, kHandedOut);
  }
  index -= mates;
  if (index == 0)
    return copy_of(at(Space::in, position * shape.pitch), at(Space::out, position * shape.pitch), plan.bytes);
  --index;
  if (index < plan.handing_out()) {
    const Step put = plan.hand_out(index % plan.ranges(), 1 + index / plan.ranges());
    return index == 0 ? after(put, kExchangedByHosts, plan.other_hosts()) : put;
  }
  index -= plan.handing_out();
  const Step copy = plan.copy(shape, index);
  if (index > 0) return copy;
  if (!plan.leads()) return after(copy, kHandedOut, mates + plan.ranges());
  return mates > 0 ? after(copy, kHandedOut, mates) : after(copy, kExchangedByHosts, plan.other_hosts());
}

Cost all_to_all_hosts_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  const Groups& groups = *shape.groups.of;
  const std::uint64_t ranks = shape.ranks;
  const std::uint64_t others = groups.count() - 1;
  Cost cost{.messages = groups.count() * others, .depth = 3, .depth_is_limit = true};
  for (Rank group = 0; group < groups.count(); ++group) {
    const ExchangeByHosts plan(shape, groups.leader_of(group));
    const std::uint64_t size = groups.size(group);
    cost.messages += (size - 1) * (others + size + plan.ranges());
    cost.bytes += (size - 1) * (2 * (ranks - size) + size) + size * (ranks - size);
  }
  cost.bytes *= shape.bytes;
  return cost;
}

}  // namespace

const Algorithm kAllToAllHosts{
    .name = "hosts",
    .operation = Operation::all_to_all,
    .parameters = {},
    .hosts = true,
    .refusal = all_to_all_hosts_refusal,
    .needs = all_to_all_hosts_needs,
    .lanes = one_lane,
    .length = all_to_all_hosts_length,
    .step = all_to_all_hosts_step,
    .cost = all_to_all_hosts_cost,
};

}  // namespace aqueduct::coll
