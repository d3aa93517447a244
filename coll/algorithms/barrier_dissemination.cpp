#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/schedule/dissemination.hpp"

namespace aqueduct::coll {

// Signals over ever longer distances (coll/schedule/dissemination.hpp): the fewest rounds.

namespace {

constexpr Parameter kBarrierDisseminationParameters[] = {{"radix", 2, 64, 2}};

Dissemination dissemination_of(const Shape& shape) noexcept { return {shape.ranks, shape.parameters[0]}; }

Needs barrier_dissemination_needs(const Shape& shape) noexcept {
  return {.counters = dissemination_of(shape).rounds()};
}

std::uint32_t barrier_dissemination_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  return shape.ranks == 1 ? 0 : dissemination_of(shape).hops() + 1;
}

Step barrier_dissemination_step(const Shape& shape, Rank position, std::uint32_t,
                                std::uint32_t index) noexcept {
  const Dissemination all = dissemination_of(shape);
  const auto heard = [&](Step step, std::uint32_t round) {
    return after(step, static_cast<Counter>(round), all.arrivals(round));
  };
  if (index == all.hops()) return heard({}, all.rounds() - 1);
  const Dissemination::Hop hop = all.hop(index);
  const Step step = signal_to(all.peer(position, hop), static_cast<Counter>(hop.round));
  return hop.round == 0 || hop.number > 0 ? step : heard(step, hop.round - 1);
}

Cost barrier_dissemination_cost(const Shape& shape) noexcept {
  const Dissemination all = dissemination_of(shape);
  return {.messages = std::uint64_t{all.hops()} * shape.ranks, .depth = all.rounds()};
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
