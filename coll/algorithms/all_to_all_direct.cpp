#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/arrivals.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Every member puts each block into the output of its member, beginning with its successor, so that no member is written
// to by all at once. One message deep, nothing is forwarded. With Sync::mine each member first tells all others that it
// has called, or `behind-barrier` has a barrier, as in an all-gather.

namespace {

constexpr Counter kExchanged = 0;
constexpr Counter kExchangeReady = 1;

ChildCounters exchange_readiness(const Shape& shape) noexcept {
  return {kExchangeReady, shape.ranks - 1, shape.bytes};
}

Needs all_to_all_direct_needs(const Shape& shape) noexcept {
  return {.counters = kExchangeReady + (asks(shape) ? exchange_readiness(shape).count : 0)};
}

// Readiness to all, a put to all, the own copy, the wait for their blocks.
std::uint32_t all_to_all_direct_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  return (asks(shape) ? shape.ranks - 1 : 0) + shape.ranks + 1;
}

Step all_to_all_direct_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const std::uint32_t others = shape.ranks - 1;
  const Place mine = at(Space::out, position * shape.pitch);
  if (asks(shape)) {
    if (index < others) {  // this member is served there `index` turns before the last
      return signal_to(absolute(index + 1, position, shape.ranks),
                       exchange_readiness(shape).of(others - 1 - index));
    }
    index -= others;
  }
  if (index == others) return copy_of(at(Space::in, position * shape.pitch), mine, shape.bytes);
  if (index > others) return wait_only(kExchanged, others);
  const Rank peer = absolute(index + 1, position, shape.ranks);
  const Step put = put_to(peer, at(Space::in, peer * shape.pitch), mine, shape.bytes, kExchanged);
  return asks(shape) ? exchange_readiness(shape).when_arrived(put, index, others) : put;
}

Cost all_to_all_direct_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint64_t edges = std::uint64_t{shape.ranks} * (shape.ranks - 1);
  return {.messages = edges * (asks(shape) ? 2 : 1),
          .bytes = edges * shape.bytes,
          .depth = asks(shape) ? 2u : 1u};
}

}  // namespace

const Algorithm kAllToAllDirect{
    .name = "direct",
    .operation = Operation::all_to_all,
    .parameters = {},
    .direct = true,
    .refusal = no_refusal,
    .needs = all_to_all_direct_needs,
    .lanes = one_lane,
    .length = all_to_all_direct_length,
    .step = all_to_all_direct_step,
    .cost = all_to_all_direct_cost,
};

const Algorithm kAllToAllBehindBarrier{
    .name = "behind-barrier",
    .operation = Operation::all_to_all,
    .parameters = {},
    .direct = true,
    .behind_barrier = true,
    .refusal = no_refusal,
    .needs = all_to_all_direct_needs,
    .lanes = one_lane,
    .length = all_to_all_direct_length,
    .step = all_to_all_direct_step,
    .cost = all_to_all_direct_cost,
};

}  // namespace aqueduct::coll
