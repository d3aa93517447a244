#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/pairwise.hpp"

namespace aqueduct::coll {

// In the rounds of pairwise.hpp. Blocks go through scratch: any addresses.

namespace {

constexpr Parameter kAllToAllPairwiseParameters[] = {{"window", 1, 64, 1}};

// The own copy; a put and a copy for each round.
std::uint32_t all_to_all_pairwise_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  return shape.bytes == 0 ? 0 : 2 * shape.ranks - 1;
}

Step all_to_all_pairwise_step(const Shape& shape, Rank position, std::uint32_t,
                              std::uint32_t index) noexcept {
  if (index == 0)
    return copy_of(at(Space::in, position * shape.pitch), at(Space::out, position * shape.pitch),
                   shape.bytes);
  const PairwiseRounds rounds(shape, position);
  const PairwiseTurn turn(rounds, index - 1);
  const Place slot = at(Space::scratch, (turn.round - 1) * shape.bytes);
  const auto arrived = static_cast<Counter>(turn.window);
  if (turn.sends) {
    const Rank peer = rounds.target(turn.round);
    return put_to(peer, at(Space::in, peer * shape.pitch), slot, shape.bytes, arrived);
  }
  const Step copy = copy_of(slot, at(Space::out, rounds.source(turn.round) * shape.pitch), shape.bytes);
  return turn.first_arrival ? after(copy, arrived, rounds.width_at(turn.window)) : copy;
}

}  // namespace

const Algorithm kAllToAllPairwise{
    .name = "pairwise",
    .operation = Operation::all_to_all,
    .parameters = kAllToAllPairwiseParameters,
    .refusal = pairwise_refusal,
    .needs = pairwise_needs,
    .lanes = one_lane,
    .length = all_to_all_pairwise_length,
    .step = all_to_all_pairwise_step,
    .cost = pairwise_cost,
};

}  // namespace aqueduct::coll
