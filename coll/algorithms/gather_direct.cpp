#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Every member puts its block into the output of the root: no scratch and no copy. Long blocks, or few members. With
// Sync::mine the root first tells the others that it has called.

namespace {

constexpr Counter kGatherBlocks = 0;
constexpr Counter kGatherReady = 1;

Needs gather_direct_needs(const Shape& shape) noexcept { return {.counters = asks(shape) ? 2u : 1u}; }

// The root: readiness to all others, its own copy, the wait for the blocks. The others: a put.
std::uint32_t gather_direct_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (position != shape.root) return 1;
  return shape.ranks == 1 ? 1 : (asks(shape) ? shape.ranks - 1 : 0) + 2;
}

Step gather_direct_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const Place mine = at(Space::out, position * shape.pitch);
  if (position != shape.root) {
    const Step put = put_to(shape.root, at(Space::in, 0), mine, shape.bytes, kGatherBlocks);
    return asks(shape) ? after(put, kGatherReady, 1) : put;
  }
  if (asks(shape)) {
    if (index + 1 < shape.ranks) return signal_to(absolute(index + 1, shape.root, shape.ranks), kGatherReady);
    index -= shape.ranks - 1;
  }
  return index == 0 ? copy_of(at(Space::in, 0), mine, shape.bytes)
                    : wait_only(kGatherBlocks, shape.ranks - 1);
}

Cost gather_direct_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint64_t edges = shape.ranks - 1;
  return {.messages = edges * (asks(shape) ? 2 : 1),
          .bytes = edges * shape.bytes,
          .depth = asks(shape) ? 2u : 1u};
}

}  // namespace

const Algorithm kGatherDirect{
    .name = "direct",
    .operation = Operation::gather,
    .parameters = {},
    .direct = true,
    .refusal = no_refusal,
    .needs = gather_direct_needs,
    .lanes = one_lane,
    .length = gather_direct_length,
    .step = gather_direct_step,
    .cost = gather_direct_cost,
};

}  // namespace aqueduct::coll
