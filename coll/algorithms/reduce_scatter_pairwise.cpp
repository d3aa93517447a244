#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/pairwise.hpp"

namespace aqueduct::coll {

// In the rounds of pairwise.hpp: a member puts each block to its owner, which adds it to its sum. As many bytes as `direct`,
// but few members write to one at a time, and blocks are combined as they come. The operator must be commutative, since each
// member combines in another order.

namespace {

constexpr Parameter kReduceScatterPairwiseParameters[] = {{"window", 1, 64, 1}};

const char* reduce_scatter_pairwise_refusal(const Shape& shape) noexcept {
  if (!shape.commutative) return "it needs a commutative operator";
  if (shape.order == Order::exact) return "it does not combine one block after the other";
  return pairwise_refusal(shape);
}

std::uint32_t reduce_scatter_pairwise_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return shape.ranks == 1 ? 1 : 2 * (shape.ranks - 1);
}

Step reduce_scatter_pairwise_step(const Shape& shape, Rank position, std::uint32_t,
                                  std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const PairwiseRounds rounds(shape, position);
  const PairwiseTurn turn(rounds, index);
  const Place slot = at(Space::scratch, (turn.round - 1) * shape.bytes);
  const auto arrived = static_cast<Counter>(turn.window);
  if (turn.sends) {
    const Rank peer = rounds.target(turn.round);
    return put_to(peer, at(Space::in, peer * shape.pitch), slot, shape.bytes, arrived);
  }
  const Place sum = at(Space::out, 0);
  const Step step =
      reduction(turn.round == 1 ? at(Space::in, position * shape.pitch) : sum, slot, sum, shape.bytes);
  return turn.first_arrival ? after(step, arrived, rounds.width_at(turn.window)) : step;
}

}  // namespace

const Algorithm kReduceScatterPairwise{
    .name = "pairwise",
    .operation = Operation::reduce_scatter,
    .parameters = kReduceScatterPairwiseParameters,
    .refusal = reduce_scatter_pairwise_refusal,
    .needs = pairwise_needs,
    .lanes = one_lane,
    .length = reduce_scatter_pairwise_length,
    .step = reduce_scatter_pairwise_step,
    .cost = pairwise_cost,
};

}  // namespace aqueduct::coll
