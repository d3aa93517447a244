#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/halving.hpp"

namespace aqueduct::coll {

// A reduce-scatter by recursive halving (halving.hpp) and an all-gather by recursive doubling, for a power of two. Every element
// is combined by one member, so all have the same bits. Then the rounds go backwards, with the results.
//
// Cost:   2 log2 P messages and 2 (P - 1) / P · bytes sent by each member: long vectors.

namespace {

Needs all_reduce_halving_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const HalvedVector plan(shape);
  return {.scratch = shape.bytes + (shape.ranks - 1) * plan.parts.longest(), .counters = 2 * plan.rounds};
}

// A put and a reduction for each round; a put for each round; the copy to the output.
std::uint32_t all_reduce_halving_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return 3 * rounds_of(shape.ranks, 2) + 1;
}

Step all_reduce_halving_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const HalvedVector plan(shape);
  if (index < 2 * plan.rounds) return plan.halve(position, position ^ (Rank{1} << index / 2), index);
  index -= 2 * plan.rounds;
  const auto arrived = static_cast<Counter>(plan.rounds + index);  // in this round
  if (index == plan.rounds)
    return after(copy_of(plan.sums(0), at(Space::out, 0), shape.bytes), static_cast<Counter>(arrived - 1), 1);
  const std::uint32_t k = plan.rounds - 1 - index;
  const Place result = plan.sums(plan.offset(position, k + 1));
  const Step put = put_to(position ^ (Rank{1} << k), result, result, plan.bytes(position, k + 1), arrived);
  return index == 0 ? put : after(put, static_cast<Counter>(arrived - 1), 1);
}

Cost all_reduce_halving_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const std::uint32_t rounds = rounds_of(shape.ranks, 2);
  return {.messages = 2 * std::uint64_t{rounds} * shape.ranks,
          .bytes = 2 * std::uint64_t{shape.ranks - 1} * shape.bytes,
          .depth = 2 * rounds};
}

}  // namespace

const Algorithm kAllReduceHalving{
    .name = "halving",
    .operation = Operation::all_reduce,
    .parameters = {},
    .cuts = true,
    .refusal = halving_refusal,
    .needs = all_reduce_halving_needs,
    .lanes = one_lane,
    .length = all_reduce_halving_length,
    .step = all_reduce_halving_step,
    .cost = all_reduce_halving_cost,
};

}  // namespace aqueduct::coll
