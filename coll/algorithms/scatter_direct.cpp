#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// The root puts every block into the output of its member: no scratch and no copy. Long blocks, or few members. With
// Sync::mine each member first tells the root that it has called; the root serves them when all have.

namespace {

constexpr Counter kScatterBlock = 0;
constexpr Counter kScatterReady = 1;

Needs scatter_direct_needs(const Shape& shape) noexcept { return {.counters = asks(shape) ? 2u : 1u}; }

// The root: a put for each other member, and a copy. The others: readiness, and the wait.
std::uint32_t scatter_direct_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return position == shape.root ? shape.ranks : asks(shape) ? 2 : 1;
}

Step scatter_direct_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (position != shape.root) {
    return asks(shape) && index == 0 ? signal_to(shape.root, kScatterReady) : wait_only(kScatterBlock, 1);
  }
  if (index + 1 == shape.ranks)
    return copy_of(at(Space::in, position * shape.pitch), at(Space::out, 0), shape.bytes);
  const Rank peer = absolute(index + 1, shape.root, shape.ranks);
  const Step put =
      put_to(peer, at(Space::in, peer * shape.pitch), at(Space::out, 0), shape.bytes, kScatterBlock);
  return asks(shape) && index == 0 ? after(put, kScatterReady, shape.ranks - 1) : put;
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
