#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Scan and exscan by recursive doubling. Before the round of distance d = 2^k a member has the combination of its own
// vector and those of the d - 1 members before it. It puts that to the member d behind it, if there is one, and combines
// what arrives from the member d before it on the left. Any number of members; the operator need not be commutative.
//
// Cost:   ceil(log2 P) rounds; P - d messages in the round of distance d.
// Source: Hillis and Steele, Data Parallel Algorithms, Comm. ACM 29(12), 1986.

namespace {

struct ScanDoubling {
  bool exclusive;
  std::uint64_t bytes;
  std::uint32_t rounds;    ///< of the team
  std::uint32_t receives;  ///< of this member's rounds: the first ones
  std::uint32_t sends;     ///< of this member's rounds: the first ones

  ScanDoubling(const Shape& shape, Rank position) noexcept
      : exclusive(shape.operation == Operation::exscan),
        bytes(shape.bytes),
        rounds(rounds_of(shape.ranks, 2)),
        receives(rounds_of(position + 1, 2)),
        sends(rounds_of(shape.ranks - position, 2)) {}

  /// The round's put; the sum with the own vector; the wait for the input; the sum without the own vector.
  std::uint32_t parts() const noexcept { return exclusive ? 4 : 3; }
  std::uint32_t all_rounds() const noexcept { return std::max(sends, receives); }
  Counter sent() const noexcept { return static_cast<Counter>(rounds); }
  /// The output may be the input, from which the first put goes out.
  bool waits_for_input() const noexcept { return sends > 0 && receives > 0; }

  Place slot(std::uint32_t round) const noexcept { return at(Space::scratch, round * bytes); }
  /// What is sent in a round. It has a place of its own for each, since earlier puts may be under way.
  Place sum(std::uint32_t round) const noexcept {
    if (round == 0) return at(Space::in, 0);
    return !exclusive && round == receives ? at(Space::out, 0) : at(Space::temp, (round - 1) * bytes);
  }
  /// What arrived before a round, combined. The first arrival stays in its slot.
  Place before(std::uint32_t round) const noexcept {
    if (round == receives) return at(Space::out, 0);
    return round == 1 ? slot(0) : at(Space::temp, rounds * bytes);
  }
};

Needs scan_doubling_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const std::uint32_t rounds = rounds_of(shape.ranks, 2);
  return {.scratch = rounds * shape.bytes, .temp = (rounds + 1) * shape.bytes, .counters = rounds + 1};
}

// In a scan, member 0 has its copy too.
std::uint32_t scan_doubling_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  const ScanDoubling plan(shape, position);
  return plan.parts() * plan.all_rounds() + (plan.exclusive || position > 0 ? 0 : 1);
}

/// What a member does with the arrival of a round.
Step scan_arrival(const ScanDoubling& plan, std::uint32_t round, std::uint32_t part) noexcept {
  const bool last = round + 1 == plan.receives;
  const auto arrived = static_cast<Counter>(round);
  const bool sums = !plan.exclusive || round + 1 < plan.sends;
  const Step wait = last && plan.waits_for_input() ? wait_only(plan.sent(), 1) : Step{};
  const Step sum =
      sums ? after(reduction(plan.slot(round), plan.sum(round), plan.sum(round + 1), plan.bytes), arrived, 1)
           : Step{};
  if (!plan.exclusive) return part == 1 ? wait : sum;
  if (part == 1) return sum;
  if (part == 2) return wait;
  Step step;
  if (round > 0)
    step = reduction(plan.slot(round), plan.before(round), plan.before(round + 1), plan.bytes);
  else if (last)
    step = copy_of(plan.slot(0), plan.before(1), plan.bytes);
  return sums ? step : after(step, arrived, 1);
}

Step scan_doubling_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const ScanDoubling plan(shape, position);
  const std::uint32_t round = index / plan.parts();
  if (round == plan.all_rounds()) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  if (const std::uint32_t part = index % plan.parts(); part > 0)
    return round < plan.receives ? scan_arrival(plan, round, part) : Step{};
  if (round >= plan.sends) return {};
  Step put = put_to(position + (Rank{1} << round), plan.sum(std::min(round, plan.receives)), plan.slot(round),
                    shape.bytes, static_cast<Counter>(round));
  if (round == 0 && plan.waits_for_input()) put.done = plan.sent();
  return put;
}

Cost scan_doubling_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  std::uint64_t messages = 0;
  for (std::uint64_t distance = 1; distance < shape.ranks; distance *= 2) messages += shape.ranks - distance;
  // A chain of m messages ends at a member with a number of at least 2^m - 1.
  return {.messages = messages, .bytes = messages * shape.bytes, .depth = rounds_of(shape.ranks + 1, 2) - 1};
}

const char* scan_doubling_refusal(const Shape& shape) noexcept {
  return shape.order == Order::exact ? "it does not combine one vector after the other" : nullptr;
}

}  // namespace

const Algorithm kScanDoubling{
    .name = "doubling",
    .operation = Operation::scan,
    .parameters = {},
    .refusal = scan_doubling_refusal,
    .needs = scan_doubling_needs,
    .lanes = one_lane,
    .length = scan_doubling_length,
    .step = scan_doubling_step,
    .cost = scan_doubling_cost,
};

const Algorithm kExscanDoubling{
    .name = "doubling",
    .operation = Operation::exscan,
    .parameters = {},
    .refusal = scan_doubling_refusal,
    .needs = scan_doubling_needs,
    .lanes = one_lane,
    .length = scan_doubling_length,
    .step = scan_doubling_step,
    .cost = scan_doubling_cost,
};

}  // namespace aqueduct::coll
