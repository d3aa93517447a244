#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/member_lengths.hpp"

namespace aqueduct::coll {

// As the all-gather of this name: every member passes each block on to its successor, beginning with its own. For long blocks
// where members of a host follow one another, since each block crosses to a host once, and on rings and tori. Blocks
// without bytes are not sent, and not waited for.

namespace {

/// Chosen: counters are leased from a few hundred.
constexpr Rank kMostInRingOfBlocks = 129;

const char* all_gather_v_ring_refusal(const Shape& shape) noexcept {
  return shape.ranks > kMostInRingOfBlocks ? "it needs a counter for each member: too many" : nullptr;
}

Needs all_gather_v_ring_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.ranks * shape.bytes, .counters = shape.ranks - 1};
}

// A put and a copy for each step; the last block is only copied.
std::uint32_t all_gather_v_ring_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  return shape.bytes == 0 ? 0 : 2 * shape.ranks - 1;
}

Step all_gather_v_ring_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of_member(shape, 0, at(Space::in, 0));
  const std::uint32_t hop = index / 2;  // in hop h the block of the member h before this one
  const bool last = hop + 1 == shape.ranks;
  const Rank owner = (position + shape.ranks - hop) % shape.ranks;
  const Place slot = at(Space::scratch, owner * shape.bytes);
  const Place from = hop == 0 ? own_block(shape, position) : slot;
  const std::uint64_t bytes = length_of_member(shape, position, owner);
  if (bytes == 0) return {};
  const Step step = index % 2 == 0 && !last
                        ? put_to((position + 1) % shape.ranks, from, slot, bytes, static_cast<Counter>(hop))
                        : copy_of_member(shape, owner, from);
  return index % 2 == 0 && hop > 0 ? after(step, static_cast<Counter>(hop - 1), 1) : step;
}

Cost all_gather_v_ring_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint64_t puts = std::uint64_t{shape.ranks} * (shape.ranks - 1);
  return {.messages = puts, .bytes = puts * shape.bytes, .depth = shape.ranks - 1};
}

}  // namespace

const Algorithm kAllGatherVRing{
    .name = "ring",
    .operation = Operation::all_gather_v,
    .parameters = {},
    .refusal = all_gather_v_ring_refusal,
    .needs = all_gather_v_ring_needs,
    .lanes = one_lane,
    .length = all_gather_v_ring_length,
    .step = all_gather_v_ring_step,
    .cost = all_gather_v_ring_cost,
};

}  // namespace aqueduct::coll
