#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// A reduce-scatter by recursive halving and an all-gather by recursive doubling, for a power of two. In round k a member
// and the one whose number differs in bit k halve the range that they share: the one with bit 0 keeps the lower half.
// Partial sums cover 2^k consecutive members and are combined in order, so the operator need not be commutative; every
// element is combined by one member, so all have the same bits. Then the rounds go backwards, with the results.
//
// Cost:   2 log2 P messages and 2 (P - 1) / P · bytes sent by each member: long vectors.
// Source: Rabenseifner, Optimization of Collective Reduction Operations, ICCS 2004.

namespace {

struct HalvedVector {
  Parts parts;
  std::uint32_t rounds;

  explicit HalvedVector(const Shape& shape) noexcept : parts(shape), rounds(rounds_of(shape.ranks, 2)) {}

  /// The first part of a member's range after `halvings` rounds; it has P / 2^halvings parts.
  std::uint64_t first(Rank position, std::uint32_t halvings) const noexcept {
    std::uint64_t part = 0;
    for (std::uint32_t k = 0; k < halvings; ++k) part += (position >> k & 1) * (parts.ranks >> (k + 1));
    return part;
  }
  std::uint64_t offset(Rank position, std::uint32_t halvings) const noexcept {
    return parts.begin(first(position, halvings));
  }
  std::uint64_t bytes(Rank position, std::uint32_t halvings) const noexcept {
    return parts.size(first(position, halvings), parts.ranks >> halvings);
  }
  // Scratch: the vector of partial sums and results; then the arrivals of each round of the reduce-scatter.
  Place sums(std::uint64_t offset) const noexcept { return at(Space::scratch, offset); }
  Place slot(std::uint32_t k) const noexcept {
    return at(Space::scratch, parts.bytes + (parts.ranks - (parts.ranks >> k)) * parts.longest());
  }
};

const char* all_reduce_halving_refusal(const Shape& shape) noexcept {
  if ((shape.ranks & (shape.ranks - 1)) != 0) return "it needs a power of two members";
  if (shape.order == Order::exact && shape.ranks > 2) return "it does not combine one vector after the other";
  return nullptr;
}

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
  if (index < 2 * plan.rounds) {
    const std::uint32_t k = index / 2;
    const auto arrived = static_cast<Counter>(k);
    const Rank other = position ^ (Rank{1} << k);
    const Rank keeper = index % 2 == 0 ? other : position;
    const std::uint64_t offset = plan.offset(keeper, k + 1);
    const std::uint64_t bytes = plan.bytes(keeper, k + 1);
    const Place mine = k == 0 ? at(Space::in, offset) : plan.sums(offset);
    if (index % 2 == 0) return put_to(other, mine, plan.slot(k), bytes, arrived);
    const bool first = position < other;
    return after(
        reduction(first ? mine : plan.slot(k), first ? plan.slot(k) : mine, plan.sums(offset), bytes),
        arrived, 1);
  }
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
    .refusal = all_reduce_halving_refusal,
    .needs = all_reduce_halving_needs,
    .lanes = one_lane,
    .length = all_reduce_halving_length,
    .step = all_reduce_halving_step,
    .cost = all_reduce_halving_cost,
};

}  // namespace aqueduct::coll
