#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// In round j a member signals to the members at distances k^j, 2·k^j, …, (k-1)·k^j, and waits for as many signals from
// the other side. After ceil(log_k P) rounds every member has heard, directly or not, of all others.
//
// Source: Hensgen, Finkel and Manber, Int. J. Parallel Programming 17(1), 1988; with k - 1 signals a round as in MPICH.

namespace {

constexpr Parameter kBarrierDisseminationParameters[] = {{"radix", 2, 64, 2}};

/// Round number and distance of a signal, counted over all rounds.
struct Hop {
  std::uint32_t round = 0;
  std::uint64_t width = 1;   ///< radix to the power of the round
  std::uint32_t number = 0;  ///< within the round: the distance is (number + 1)·width
};

/// The signals that a member sends in a round: distances of P or more would reach it again.
std::uint32_t hops_in(const Shape& shape, std::uint64_t width) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(shape.parameters[0] - 1, (shape.ranks - 1) / width));
}
/// radix to the power of `round`.
std::uint64_t width_of(const Shape& shape, std::uint32_t round) noexcept {
  if (shape.parameters[0] == 2) return std::uint64_t{1} << round;
  std::uint64_t width = 1;
  for (; round > 0; --round) width *= shape.parameters[0];
  return width;
}
// All rounds but the last have radix - 1 hops: the width of the next one is less than P.
Hop hop_of(const Shape& shape, std::uint32_t index) noexcept {
  const std::uint32_t in_round = shape.parameters[0] - 1;
  const std::uint32_t round = in_round == 1 ? index : index / in_round;
  return {round, width_of(shape, round), index - round * in_round};
}
/// The signals of a member in all of its `rounds` rounds, which are 1 or more.
std::uint32_t all_hops(const Shape& shape, std::uint32_t rounds) noexcept {
  return (rounds - 1) * (shape.parameters[0] - 1) + hops_in(shape, width_of(shape, rounds - 1));
}

Needs barrier_dissemination_needs(const Shape& shape) noexcept {
  return {.counters = rounds_of(shape.ranks, shape.parameters[0])};
}

std::uint32_t barrier_dissemination_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  return shape.ranks == 1 ? 0 : all_hops(shape, rounds_of(shape.ranks, shape.parameters[0])) + 1;
}

Step barrier_dissemination_step(const Shape& shape, Rank position, std::uint32_t,
                                std::uint32_t index) noexcept {
  const std::uint32_t rounds = rounds_of(shape.ranks, shape.parameters[0]);
  if (index == all_hops(shape, rounds))
    return wait_only(static_cast<Counter>(rounds - 1), hops_in(shape, width_of(shape, rounds - 1)));
  const Hop hop = hop_of(shape, index);
  const Step step = signal_to(static_cast<Rank>((position + (hop.number + 1) * hop.width) % shape.ranks),
                              static_cast<Counter>(hop.round));
  if (hop.round == 0 || hop.number > 0) return step;
  return after(step, static_cast<Counter>(hop.round - 1), shape.parameters[0] - 1);
}

Cost barrier_dissemination_cost(const Shape& shape) noexcept {
  const std::uint32_t rounds = rounds_of(shape.ranks, shape.parameters[0]);
  if (rounds == 0) return {};
  return {.messages = std::uint64_t{all_hops(shape, rounds)} * shape.ranks, .depth = rounds};
}

}  // namespace

const Algorithm kBarrierDissemination{
    .name = "dissemination",
    .operation = Operation::barrier,
    .parameters = kBarrierDisseminationParameters,
    .refusal = no_refusal,
    .needs = barrier_dissemination_needs,
    .lanes = one_lane,
    .length = barrier_dissemination_length,
    .step = barrier_dissemination_step,
    .cost = barrier_dissemination_cost,
};

}  // namespace aqueduct::coll
