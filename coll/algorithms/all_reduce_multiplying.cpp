#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Recursive multiplying. The members are cut into k^R ranges of consecutive positions, as many as fit; the first member
// of each is its leader. The others put their vectors to their leader (the fold), get the result from it, and do nothing
// between. In round j the leaders form groups of k, whose numbers differ in digit j only. Each puts its partial result
// to the others of its group, and combines the k partial results in the order of their numbers.
//
// Partial results cover consecutive positions and are combined in order, so the operator need not be commutative; all
// leaders combine in the same way, so all members get the same bits.
//
// `hosts` is the same with the members of a host as a range: between hosts only leaders send, and every vector once.
// Cost:   R rounds of k - 1 messages, and two messages more for each member beyond k^R: short vectors.
// Source: Thakur, Rabenseifner and Gropp, Int. J. High Performance Computing Applications 19(1), 2005 (k = 2).

namespace {

constexpr Parameter kMultiplyingParameters[] = {{"radix", 2, 64, 2}};

constexpr Counter kFolded = 0;      // a follower's vector has arrived
constexpr Counter kResult = 1;      // the leader's result has arrived
constexpr Counter kSourceFree = 2;  // a put from the user's input is over
constexpr Counter kFirstRound = 3;

struct Multiplying {
  std::uint64_t radix;
  std::uint32_t rounds = 0;
  std::uint64_t leaders = 1;
  std::uint64_t each;   ///< followers that every leader has
  std::uint64_t front;  ///< this many leaders, from the first on, have one more
  bool back = false;    ///< the last leader, too, has one more
  std::uint64_t slots;  ///< of followers: as many as any leader has
  std::uint64_t ranks;
  std::uint64_t bytes;
  const Groups* groups;  ///< null: ranges of consecutive positions

  explicit Multiplying(const Shape& shape) noexcept
      : radix(shape.parameters[0]),
        each(0),
        front(0),
        slots(radix - 1),
        ranks(shape.ranks),
        bytes(shape.bytes),
        groups(shape.groups.of) {
    const std::uint64_t most = groups != nullptr ? groups->count() : ranks;
    for (; leaders * radix <= most; ++rounds) leaders *= radix;
    if (groups != nullptr) {
      slots = groups->most() - 1;
      return;
    }
    each = (ranks - leaders) / leaders;
    front = (ranks - leaders) % leaders;
    // With the first and the last leader both among those with followers, the depth does not depend on their number.
    if (front >= 2) {
      back = true;
      --front;
    }
  }

  Rank position_of(std::uint64_t leader) const noexcept {
    if (groups != nullptr) return groups->leader_of(static_cast<Rank>(leader));
    return static_cast<Rank>(leader * (each + 1) + std::min(leader, front));
  }
  std::uint64_t leader_of(Rank position) const noexcept {
    if (groups != nullptr) return groups->group_of(position);
    const std::uint64_t in_front = front * (each + 2);
    if (position < in_front) return position / (each + 2);
    return std::min(front + (position - in_front) / (each + 1), leaders - 1);
  }
  std::uint32_t followers(std::uint64_t leader) const noexcept {
    if (groups != nullptr) return groups->size(static_cast<Rank>(leader)) - 1;
    const bool more = leader < front || (back && leader + 1 == leaders);
    return static_cast<std::uint32_t>(each + (more ? 1 : 0));
  }
  Rank follower(std::uint64_t leader, std::uint32_t index) const noexcept {
    if (groups != nullptr) return groups->member_at(groups->begin(static_cast<Rank>(leader)) + 1 + index);
    return position_of(leader) + 1 + index;
  }
  /// Which of its leader's followers a member is.
  std::uint32_t index_of(std::uint64_t leader, Rank position) const noexcept {
    if (groups != nullptr) return groups->place_of(position) - groups->begin(static_cast<Rank>(leader)) - 1;
    return position - position_of(leader) - 1;
  }

  // Scratch: a slot for each follower, one for each digit of each round, one for the result.
  Place fold_slot(std::uint64_t follower) const noexcept { return at(Space::scratch, follower * bytes); }
  Place slot(std::uint32_t round, std::uint64_t digit) const noexcept {
    return at(Space::scratch, (slots + round * radix + digit) * bytes);
  }
  Place result_slot() const noexcept { return at(Space::scratch, (slots + rounds * radix) * bytes); }
  std::uint64_t scratch() const noexcept { return (slots + 1 + rounds * radix) * bytes; }
  /// What a round has combined so far. It has a place of its own for each round, since puts of the partial result may
  /// still be under way.
  Place sum(std::uint32_t round) const noexcept { return at(Space::temp, round * bytes); }
  /// The partial result before a round; after the last one it is the result.
  Place partial(std::uint32_t round, bool folded) const noexcept {
    if (round == rounds && (rounds > 0 || folded)) return at(Space::out, 0);
    return round == 0 && !folded ? at(Space::in, 0) : sum(round);
  }
};

Needs all_reduce_multiplying_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const Multiplying plan(shape);
  return {.scratch = plan.scratch(),
          .temp = (plan.rounds + 1) * plan.bytes,
          .counters = kFirstRound + plan.rounds};
}

// A leader: a reduction for each follower; of each round the puts and then the reductions, in the last round with a step
// between; a put of the result for each follower.
std::uint32_t all_reduce_multiplying_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const Multiplying plan(shape);
  const std::uint64_t leader = plan.leader_of(position);
  if (plan.position_of(leader) != position) return 2;
  const auto others = static_cast<std::uint32_t>(plan.radix - 1);
  return 2 * plan.followers(leader) + plan.rounds * 2 * others + (plan.rounds > 0 ? 1 : 0);
}

Step follower_step(const Multiplying& plan, Rank position, std::uint32_t index) noexcept {
  const std::uint64_t leader = plan.leader_of(position);
  if (index == 0)
    return put_to(plan.position_of(leader), at(Space::in, 0), plan.fold_slot(plan.index_of(leader, position)),
                  plan.bytes, kFolded);
  return after(copy_of(plan.result_slot(), at(Space::out, 0), plan.bytes), kResult, 1);
}

/// Steps of round `round`: `index` counts from the round's first put.
Step round_step(const Multiplying& plan, std::uint64_t leader, std::uint32_t round,
                std::uint32_t index) noexcept {
  const auto others = static_cast<std::uint32_t>(plan.radix - 1);
  const bool folded = plan.followers(leader) > 0;
  const bool last = round + 1 == plan.rounds;
  std::uint64_t width = 1;
  for (std::uint32_t i = 0; i < round; ++i) width *= plan.radix;
  const std::uint64_t digit = leader / width % plan.radix;
  const auto arrived = static_cast<Counter>(kFirstRound + round);
  const Place mine = plan.partial(round, folded);
  if (index < others) {
    // The others of the group, beginning with the next, so that not all put to the same one at once.
    const std::uint64_t other = (digit + 1 + index) % plan.radix;
    const std::uint64_t peer = leader - digit * width + other * width;
    Step step = put_to(plan.position_of(peer), mine, plan.slot(round, digit), plan.bytes, arrived);
    if (mine.space == Space::in) step.done = kSourceFree;
    return step;
  }
  index -= others;
  if (last) {
    // The reductions of the last round write to the output, which may be the same buffer as the input.
    if (index == 0) return folded ? Step{} : wait_only(kSourceFree, others);
    --index;
  }
  // Only the last reduction writes to the result's place, which may be that of `mine`.
  const Place so_far = plan.sum(round + 1);
  const Place to = index + 1 == others ? plan.partial(round + 1, folded) : so_far;
  const auto value = [&](std::uint64_t of) { return of == digit ? mine : plan.slot(round, of); };
  const Step step = reduction(index == 0 ? value(0) : so_far, value(index + 1), to, plan.bytes);
  return index == 0 ? after(step, arrived, others) : step;
}

Step all_reduce_multiplying_step(const Shape& shape, Rank position, std::uint32_t,
                                 std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const Multiplying plan(shape);
  const std::uint64_t leader = plan.leader_of(position);
  if (plan.position_of(leader) != position) return follower_step(plan, position, index);
  const std::uint32_t followers = plan.followers(leader);
  if (index < followers) {
    const Place to = plan.partial(0, true);  // not the output, unless there is no round
    const Step step = reduction(index == 0 ? at(Space::in, 0) : to, plan.fold_slot(index), to, plan.bytes);
    return index == 0 ? after(step, kFolded, followers) : step;
  }
  index -= followers;
  const auto in_round = static_cast<std::uint32_t>(2 * (plan.radix - 1));
  if (plan.rounds > 0) {
    const std::uint32_t round = std::min(index / in_round, plan.rounds - 1);
    const std::uint32_t in_last = index - round * in_round;
    if (in_last < in_round + (round + 1 == plan.rounds ? 1 : 0))
      return round_step(plan, leader, round, in_last);
    index -= plan.rounds * in_round + 1;
  }
  return put_to(plan.follower(leader, index), at(Space::out, 0), plan.result_slot(), plan.bytes, kResult);
}

Cost all_reduce_multiplying_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const Multiplying plan(shape);
  const std::uint64_t extra = plan.ranks - plan.leaders;
  const std::uint64_t messages = 2 * extra + plan.leaders * (plan.radix - 1) * plan.rounds;
  return {.messages = messages,
          .bytes = messages * plan.bytes,
          .depth = plan.rounds +
                   (plan.rounds == 0 ? 2 : static_cast<std::uint32_t>(std::min<std::uint64_t>(extra, 2))),
          .depth_is_limit = plan.groups != nullptr};  // hosts of one member have nobody to hear from
}

const char* multiplying_refusal(const Shape& shape) noexcept {
  return shape.order == Order::exact ? "it does not combine one vector after the other" : nullptr;
}

const char* multiplying_hosts_refusal(const Shape& shape) noexcept {
  if (!shape.commutative && !shape.groups.of->in_team_order())
    return "it combines the vectors of a host first, and the team's order is another";
  if (Multiplying(shape).leaders != shape.groups.of->count())
    return "the number of hosts is no power of the radix";
  return multiplying_refusal(shape);
}

}  // namespace

const Algorithm kAllReduceMultiplying{
    .name = "multiplying",
    .operation = Operation::all_reduce,
    .parameters = kMultiplyingParameters,
    .refusal = multiplying_refusal,
    .needs = all_reduce_multiplying_needs,
    .lanes = one_lane,
    .length = all_reduce_multiplying_length,
    .step = all_reduce_multiplying_step,
    .cost = all_reduce_multiplying_cost,
};

const Algorithm kAllReduceHosts{
    .name = "hosts",
    .operation = Operation::all_reduce,
    .parameters = kMultiplyingParameters,
    .hosts = true,
    .refusal = multiplying_hosts_refusal,
    .needs = all_reduce_multiplying_needs,
    .lanes = one_lane,
    .length = all_reduce_multiplying_length,
    .step = all_reduce_multiplying_step,
    .cost = all_reduce_multiplying_cost,
};

}  // namespace aqueduct::coll
