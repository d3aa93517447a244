#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/halving.hpp"
#include "coll/schedule/passes.hpp"

#include <bit>

namespace aqueduct::coll {

// A reduce-scatter by recursive halving (halving.hpp) and a gather up a binomial tree, for a power of two: the rounds go
// backwards, and in each the member whose number differs from the root's in the round's bit sends what it has, and is done. All
// combine the same share of the vector. If any order will do, members are numbered from the root on; if not, as in
// the team, so that the order is the team's.
//
// Cost: P log2 P + P - 1 messages; a member sends (P - 1) / P of the vector, and at the most half of it again.

namespace {

struct GatheredHalves {
  HalvedVector vector;
  Rank ranks;
  Rank top;   ///< the member whose number is 0
  Rank root;  ///< its number

  explicit GatheredHalves(const Shape& shape) noexcept
      : vector(shape),
        ranks(shape.ranks),
        top(shape.commutative && shape.order != Order::exact ? shape.root : 0),
        root(relative(shape.root, top, shape.ranks)) {}

  Rank number(Rank position) const noexcept { return relative(position, top, ranks); }
  Rank member(Rank number) const noexcept { return absolute(number, top, ranks); }
  /// The round in which a member sends: that of the highest bit in which it differs. Requires: it is not the root.
  std::uint32_t last_round(Rank here) const noexcept {
    return static_cast<std::uint32_t>(std::bit_width(here ^ root)) - 1;
  }
  Counter gathered() const noexcept { return static_cast<Counter>(vector.rounds); }
};

Needs reduce_halving_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const HalvedVector plan(shape);
  return {.scratch = shape.bytes + (shape.ranks - 1) * plan.parts.longest(), .counters = plan.rounds + 1};
}

// A put and a reduction for each round; then the put of what was gathered, or the root's copy.
std::uint32_t reduce_halving_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return shape.ranks == 1 ? 1 : 2 * rounds_of(shape.ranks, 2) + 1;
}

Step reduce_halving_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const GatheredHalves plan(shape);
  const HalvedVector& vector = plan.vector;
  const Rank here = plan.number(position);
  if (index < 2 * vector.rounds) return vector.halve(here, plan.member(here ^ (Rank{1} << index / 2)), index);
  if (here == plan.root)
    return after(copy_of(vector.sums(0), at(Space::out, 0), shape.bytes), plan.gathered(), vector.rounds);
  const std::uint32_t k = plan.last_round(here);
  const Place result = vector.sums(vector.offset(here, k + 1));
  const Step put =
      put_to(plan.member(here ^ (Rank{1} << k)), result, result, vector.bytes(here, k + 1), plan.gathered());
  return k + 1 == vector.rounds ? put : after(put, plan.gathered(), vector.rounds - 1 - k);
}

Cost reduce_halving_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const GatheredHalves plan(shape);
  const std::uint32_t rounds = plan.vector.rounds;
  std::uint64_t gathered = 0;
  for (Rank here = 0; here < shape.ranks; ++here)
    gathered += here == plan.root ? 0 : plan.vector.bytes(here, plan.last_round(here) + 1);
  return {.messages = std::uint64_t{rounds} * shape.ranks + shape.ranks - 1,
          .bytes = std::uint64_t{shape.ranks - 1} * shape.bytes + gathered,
          .depth = 2 * rounds};
}

}  // namespace

const Algorithm kReduceHalving{
    .name = "halving",
    .operation = Operation::reduce,
    .parameters = {},
    .cuts = true,
    .refusal = halving_refusal,
    .needs = reduce_halving_needs,
    .lanes = one_lane,
    .length = reduce_halving_length,
    .step = reduce_halving_step,
    .cost = reduce_halving_cost,
};

}  // namespace aqueduct::coll
