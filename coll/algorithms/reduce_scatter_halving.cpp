#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Recursive halving, for a power of two. In round k a member and the one whose number differs in bit k share the blocks
// that they still have partial sums of: each keeps those whose number has its own bit k, and puts the others to the
// other. Partial sums cover 2^k consecutive members and are combined in order, so the operator need not be commutative.
//
// Cost:   log2 P messages and P - 1 blocks sent by each member.
// Source: Thakur, Rabenseifner and Gropp, Int. J. High Performance Computing Applications 19(1), 2005.

namespace {

struct HalvingRound {
  std::uint64_t ranks;
  std::uint64_t bytes;
  std::uint64_t pitch;
  std::uint32_t k;
  Rank position;

  /// The blocks that are left after the round.
  std::uint64_t left() const noexcept { return ranks >> (k + 1); }
  std::uint64_t bit() const noexcept { return position >> k & 1; }
  Rank other() const noexcept { return position ^ (Rank{1} << k); }
  /// Partial sums before round `round`, ordered by block: 2·left blocks.
  std::uint64_t sums_at(std::uint32_t round) const noexcept {
    // Round 1 begins at 0; each round has half as many blocks as the one before.
    return (ranks - (ranks >> (round - 1))) * bytes;
  }
  /// Every second block of what there was before the round: those that stay with `keeper`, or go to it.
  Place half(std::uint64_t keeper) const noexcept {
    if (k == 0) return {Space::in, keeper * pitch, 2 * pitch};
    return {Space::temp, sums_at(k) + keeper * bytes, 2 * bytes};
  }
  Place slot() const noexcept { return {Space::scratch, (ranks - (ranks >> k)) * bytes, bytes}; }
  Place sums() const noexcept {
    return left() == 1 ? at(Space::out, 0) : Place{Space::temp, sums_at(k + 1), bytes};
  }
};

const char* reduce_scatter_halving_refusal(const Shape& shape) noexcept {
  if ((shape.ranks & (shape.ranks - 1)) != 0) return "it needs a power of two members";
  if (shape.order == Order::exact && shape.ranks > 2) return "it does not combine one block after the other";
  return nullptr;
}

Needs reduce_scatter_halving_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = (shape.ranks - 1) * shape.bytes,
          .temp = (shape.ranks - 2) * shape.bytes,
          .counters = rounds_of(shape.ranks, 2)};
}

std::uint32_t reduce_scatter_halving_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return shape.ranks == 1 ? 1 : 2 * rounds_of(shape.ranks, 2);
}

Step reduce_scatter_halving_step(const Shape& shape, Rank position, std::uint32_t,
                                 std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const HalvingRound round{shape.ranks, shape.bytes, shape.pitch, index / 2, position};
  const auto arrived = static_cast<Counter>(round.k);
  Step step;
  if (index % 2 == 0) {
    step = put_to(round.other(), round.half(1 - round.bit()), round.slot(), shape.bytes, arrived);
  } else {
    const Place mine = round.half(round.bit());
    const bool first = round.bit() == 0;  // this member's numbers are the lower ones
    step =
        after(reduction(first ? mine : round.slot(), first ? round.slot() : mine, round.sums(), shape.bytes),
              arrived, 1);
  }
  step.runs = round.left();
  return step;
}

Cost reduce_scatter_halving_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const std::uint32_t rounds = rounds_of(shape.ranks, 2);
  return {.messages = std::uint64_t{rounds} * shape.ranks,
          .bytes = std::uint64_t{shape.ranks} * (shape.ranks - 1) * shape.bytes,
          .depth = rounds};
}

}  // namespace

const Algorithm kReduceScatterHalving{
    .name = "halving",
    .operation = Operation::reduce_scatter,
    .parameters = {},
    .refusal = reduce_scatter_halving_refusal,
    .needs = reduce_scatter_halving_needs,
    .lanes = one_lane,
    .length = reduce_scatter_halving_length,
    .step = reduce_scatter_halving_step,
    .cost = reduce_scatter_halving_cost,
};

}  // namespace aqueduct::coll
