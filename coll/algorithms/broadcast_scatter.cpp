#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// The block is cut into a part for each member. The root puts every part to its member; then the members gather them
// from each other: in the round of distance d = 2^k a member puts its own part and those of the d - 1 members behind it
// to the member d before it. Long blocks, where a root that sends all to several members is the limit.
//
// Parts lie in scratch at their places in the block, so parts from the last member on to member 0 are two puts. Nothing
// is put to the root. The scatter is flat: inside a tree members would get parts twice.
// Cost:   1 + ceil(log2 P) rounds, fewer than 2·bytes sent by each member.
// Source: Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, Interprocessor Collective Communication Library,
//         SHPCC 1994; the all-gather is Bruck's.

namespace {

constexpr Counter kPartsScattered = 0;
constexpr Counter kPartsGathered = 1;  // the first of one for each round

struct PartedBroadcast {
  Parts parts;
  Rank root;
  Rank here;
  std::uint32_t rounds;

  PartedBroadcast(const Shape& shape, Rank position) noexcept
      : parts(shape),
        root(shape.root),
        here(relative(position, shape.root, shape.ranks)),
        rounds(rounds_of(shape.ranks, 2)) {}

  std::uint64_t distance(std::uint32_t round) const noexcept { return std::uint64_t{1} << round; }
  std::uint64_t count(std::uint32_t round) const noexcept {
    return std::min(distance(round), parts.ranks - distance(round));
  }
  /// Whether the parts that a member puts in a round go on with part 0.
  bool wraps(std::uint64_t member, std::uint32_t round) const noexcept {
    return member + count(round) > parts.ranks;
  }
  /// A step that only waits stands for a put to the root.
  std::uint32_t steps(std::uint32_t round) const noexcept { return wraps(here, round) ? 2 : 1; }
  std::uint32_t arrivals(std::uint32_t round) const noexcept {
    return wraps((here + distance(round)) % parts.ranks, round) ? 2 : 1;
  }
  Step put(std::uint64_t peer, std::uint64_t first, std::uint64_t many, Counter counter) const noexcept {
    const std::uint64_t offset = parts.begin(first);
    return put_to(absolute(static_cast<Rank>(peer), root, static_cast<Rank>(parts.ranks)),
                  at(here == 0 ? Space::in : Space::scratch, offset), at(Space::scratch, offset),
                  parts.size(first, many), counter);
  }
  /// The step, which begins when the arrivals of the round before are there; `round` may be one beyond the last.
  Step after_round(const Step& step, std::uint32_t round) const noexcept {
    if (here == 0) return step;
    if (round > 0) return after(step, static_cast<Counter>(kPartsGathered + round - 1), arrivals(round - 1));
    return after(step, kPartsScattered, 1);
  }
  bool puts(std::uint32_t round) const noexcept { return here != distance(round); }
  /// Whether the puts of a round contain what arrives in the round before; the last round may have so few parts that
  /// they do not.
  bool needs_arrivals(std::uint32_t round) const noexcept {
    return round == 0 || count(round) > distance(round - 1);
  }
  /// Then nothing waits for these but the copy to the output, which needs a step for it.
  bool waits_twice() const noexcept {
    return rounds > 0 && here != 0 && puts(rounds - 1) && !needs_arrivals(rounds - 1);
  }
};

Needs broadcast_scatter_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.bytes, .counters = kPartsGathered + rounds_of(shape.ranks, 2)};
}

// The root: a put for each other member. One or two puts for each round; the copy to the output.
std::uint32_t broadcast_scatter_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  const PartedBroadcast plan(shape, position);
  std::uint32_t length = (plan.here == 0 ? shape.ranks - 1 : 0) + (plan.waits_twice() ? 2 : 1);
  for (std::uint32_t round = 0; round < plan.rounds; ++round) length += plan.steps(round);
  return length;
}

Step broadcast_scatter_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const PartedBroadcast plan(shape, position);
  if (plan.here == 0) {
    if (index + 1 < shape.ranks) return plan.put(index + 1, index + 1, 1, kPartsScattered);
    index -= shape.ranks - 1;
  }
  std::uint32_t round = 0;
  for (; round < plan.rounds && index >= plan.steps(round); ++round) index -= plan.steps(round);
  if (round == plan.rounds) {
    if (plan.waits_twice() && index == 0) return plan.after_round({}, round - 1);
    const Place whole = at(plan.here == 0 ? Space::in : Space::scratch, 0);
    return plan.after_round(copy_of(whole, at(Space::out, 0), shape.bytes), round);
  }
  if (!plan.puts(round)) return plan.after_round({}, round);
  const std::uint64_t peer = (plan.here + plan.parts.ranks - plan.distance(round)) % plan.parts.ranks;
  const auto counter = static_cast<Counter>(kPartsGathered + round);
  const std::uint64_t before_end = std::min(plan.count(round), plan.parts.ranks - plan.here);
  const Step put = index == 0 ? plan.put(peer, plan.here, before_end, counter)
                              : plan.put(peer, 0, plan.count(round) - before_end, counter);
  // What arrived in the round before is in the second piece if it begins with part 0 or behind it.
  const bool in_second = round > 0 && plan.here + plan.distance(round - 1) >= plan.parts.ranks;
  const bool waits = plan.needs_arrivals(round) && index == (in_second ? 1 : 0);
  return waits ? plan.after_round(put, round) : put;
}

Cost broadcast_scatter_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const PartedBroadcast plan(shape, shape.root);
  Cost cost{.messages = shape.ranks - 1, .bytes = shape.bytes - plan.parts.size(0, 1), .depth = 1};
  // Of two members, only the root puts anything.
  if (shape.ranks > 2) cost.depth = plan.rounds + (plan.needs_arrivals(plan.rounds - 1) ? 1 : 0);
  for (std::uint32_t round = 0; round < plan.rounds; ++round) {
    // All members but the one at this distance from the root put; all but one of `count` ranges that contain part 0
    // begin before it.
    cost.messages += shape.ranks - 1 + plan.count(round) - 1;
    cost.bytes += plan.count(round) * shape.bytes - plan.parts.size(plan.distance(round), plan.count(round));
  }
  return cost;
}

}  // namespace

const Algorithm kBroadcastScatter{
    .name = "scatter-all-gather",
    .operation = Operation::broadcast,
    .parameters = {},
    .cuts = true,
    .refusal = no_refusal,
    .needs = broadcast_scatter_needs,
    .lanes = one_lane,
    .length = broadcast_scatter_length,
    .step = broadcast_scatter_step,
    .cost = broadcast_scatter_cost,
};

}  // namespace aqueduct::coll
