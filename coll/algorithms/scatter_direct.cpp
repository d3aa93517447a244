#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/arrivals.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// The root puts every block into the output of its member: no scratch and no copy. Long blocks, or few members. With
// Sync::mine each member first tells the root that it has called; the root serves them in the order of positions from its
// own on, and waits for each (if blocks are long; else for all at first).

namespace {

constexpr Counter kScatterBlock = 0;
constexpr Counter kScatterReady = 1;

ChildCounters scatter_readiness(const Shape& shape) noexcept {
  return {kScatterReady, shape.ranks - 1, shape.bytes};
}

Needs scatter_direct_needs(const Shape& shape) noexcept {
  return {.counters = kScatterReady + (asks(shape) ? scatter_readiness(shape).count : 0)};
}

// The root: a put for each other member, and a copy. The others: readiness, and the wait.
std::uint32_t scatter_direct_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return position == shape.root ? shape.ranks : asks(shape) ? 2 : 1;
}

Step scatter_direct_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (position != shape.root) {
    if (!asks(shape) || index > 0) return wait_only(kScatterBlock, 1);
    const std::uint32_t turn = relative(position, shape.root, shape.ranks) - 1;
    return signal_to(shape.root, scatter_readiness(shape).of(turn));
  }
  if (index + 1 == shape.ranks)
    return copy_of(at(Space::in, position * shape.pitch), at(Space::out, 0), shape.bytes);
  const Rank peer = absolute(index + 1, shape.root, shape.ranks);
  const Step put =
      put_to(peer, at(Space::in, peer * shape.pitch), at(Space::out, 0), shape.bytes, kScatterBlock);
  return asks(shape) ? scatter_readiness(shape).when_arrived(put, index, shape.ranks - 1) : put;
}

Cost scatter_direct_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint64_t edges = shape.ranks - 1;
  return {.messages = edges * (asks(shape) ? 2 : 1),
          .bytes = edges * shape.bytes,
          .depth = asks(shape) ? 2u : 1u};
}

}  // namespace

const Algorithm kScatterDirect{
    .name = "direct",
    .operation = Operation::scatter,
    .parameters = {},
    .direct = true,
    .refusal = no_refusal,
    .needs = scatter_direct_needs,
    .lanes = one_lane,
    .length = scatter_direct_length,
    .step = scatter_direct_step,
    .cost = scatter_direct_cost,
};

}  // namespace aqueduct::coll
