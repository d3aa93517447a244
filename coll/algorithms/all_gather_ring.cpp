#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Every member passes each block on to its successor, beginning with its own: P - 1 steps, between neighbours only. For
// long blocks on rings, tori, and networks that are narrow in the middle. A block has its own counter, since two puts to
// one peer may arrive in either order; so the number of members is limited.

namespace {

/// Chosen: counters are leased from a few hundred.
constexpr Rank kMostInRing = 129;

const char* all_gather_ring_refusal(const Shape& shape) noexcept {
  return shape.ranks > kMostInRing ? "it needs a counter for each member: too many" : nullptr;
}

Needs all_gather_ring_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.ranks * shape.bytes, .counters = shape.ranks - 1};
}

// A put and a copy for each step; the last block is only copied.
std::uint32_t all_gather_ring_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  return shape.bytes == 0 ? 0 : 2 * shape.ranks - 1;
}

Step all_gather_ring_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const std::uint32_t step = index / 2;  // in step s the block of the member s before this one
  const bool last = step + 1 == shape.ranks;
  const Rank owner = (position + shape.ranks - step) % shape.ranks;
  const Place from = step == 0 ? at(Space::in, 0) : at(Space::scratch, owner * shape.bytes);
  const bool puts = index % 2 == 0 && !last;
  const Step taken = puts
                         ? put_to((position + 1) % shape.ranks, from, at(Space::scratch, owner * shape.bytes),
                                  shape.bytes, static_cast<Counter>(step))
                         : copy_of(from, at(Space::out, owner * shape.pitch), shape.bytes);
  return index % 2 == 0 && step > 0 ? after(taken, static_cast<Counter>(step - 1), 1) : taken;
}

Cost all_gather_ring_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint64_t puts = std::uint64_t{shape.ranks} * (shape.ranks - 1);
  return {.messages = puts, .bytes = puts * shape.bytes, .depth = shape.ranks - 1};
}

}  // namespace

const Algorithm kAllGatherRing{
    .name = "ring",
    .operation = Operation::all_gather,
    .parameters = {},
    .refusal = all_gather_ring_refusal,
    .needs = all_gather_ring_needs,
    .lanes = one_lane,
    .length = all_gather_ring_length,
    .step = all_gather_ring_step,
    .cost = all_gather_ring_cost,
};

}  // namespace aqueduct::coll
