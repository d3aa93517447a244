#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/arrivals.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Every member puts its block into the output of every other, beginning with its successor so that no member is written
// to by all at once. One message deep, nothing is forwarded or copied: few members, or long blocks. With Sync::mine each
// member first tells all others that it has called: P (P - 1) signals. `behind-barrier` has ceil(log2 P) P in their place, but
// nobody begins before all have called.

namespace {

constexpr Counter kBlocks = 0;
constexpr Counter kReady = 1;

std::uint32_t others(const Shape& shape) noexcept { return shape.ranks - 1; }
/// The member at `distance` behind this one.
Rank behind(const Shape& shape, Rank position, std::uint32_t distance) noexcept {
  return static_cast<Rank>((std::uint64_t{position} + distance) % shape.ranks);
}

ChildCounters gather_readiness(const Shape& shape) noexcept { return {kReady, others(shape), shape.bytes}; }

Needs all_gather_direct_needs(const Shape& shape) noexcept {
  return {.counters = kReady + (asks(shape) ? gather_readiness(shape).count : 0)};
}

std::uint32_t all_gather_direct_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  // Own copy, readiness to all, a put to all, the wait for theirs.
  return 1 + (shape.ranks == 1 ? 0 : (asks(shape) ? others(shape) : 0) + others(shape) + 1);
}

Step all_gather_direct_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const Place mine = at(Space::out, position * shape.pitch);
  if (asks(shape)) {
    if (index < others(shape)) {  // this member is served there `index` turns before the last
      return signal_to(behind(shape, position, index + 1),
                       gather_readiness(shape).of(others(shape) - 1 - index));
    }
    index -= others(shape);
  }
  if (index == others(shape)) return copy_of(at(Space::in, 0), mine, shape.bytes);
  if (index > others(shape)) return wait_only(kBlocks, others(shape));
  const Step put = put_to(behind(shape, position, index + 1), at(Space::in, 0), mine, shape.bytes, kBlocks);
  return asks(shape) ? gather_readiness(shape).when_arrived(put, index, others(shape)) : put;
}

Cost all_gather_direct_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint64_t edges = std::uint64_t{shape.ranks} * others(shape);
  return {.messages = edges * (asks(shape) ? 2 : 1),
          .bytes = edges * shape.bytes,
          .depth = asks(shape) ? 2u : 1u};
}

}  // namespace

const Algorithm kAllGatherDirect{
    .name = "direct",
    .operation = Operation::all_gather,
    .parameters = {},
    .direct = true,
    .refusal = no_refusal,
    .needs = all_gather_direct_needs,
    .lanes = one_lane,
    .length = all_gather_direct_length,
    .step = all_gather_direct_step,
    .cost = all_gather_direct_cost,
};

const Algorithm kAllGatherBehindBarrier{
    .name = "behind-barrier",
    .operation = Operation::all_gather,
    .parameters = {},
    .direct = true,
    .behind_barrier = true,
    .refusal = no_refusal,
    .needs = all_gather_direct_needs,
    .lanes = one_lane,
    .length = all_gather_direct_length,
    .step = all_gather_direct_step,
    .cost = all_gather_direct_cost,
};

}  // namespace aqueduct::coll
