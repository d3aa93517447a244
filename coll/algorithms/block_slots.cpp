#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Operations whose blocks may differ. Every member puts each block into a slot of its receiver's scratch, beginning with
// its successor; the receiver copies it to its place. A slot has room for one block of the longest length that the run
// allows, so slots have the same places on all members, whatever the blocks are. One message deep, nothing is forwarded,
// and an empty block is not sent.
//
// The five operations differ only in who sends to whom. Scatter and permute need one slot, since each member receives one
// block; the others one for each other member.

namespace {

constexpr Counter kFullSlots = 0;

bool one_slot(Operation operation) noexcept {
  return operation == Operation::scatter_v || operation == Operation::permute;
}
std::uint32_t slots_of(const Shape& shape) noexcept {
  if (shape.ranks == 1) return 0;
  return one_slot(shape.operation) ? 1 : shape.ranks - 1;
}
/// Where a sender's slot begins in the scratch of a receiver.
std::uint64_t slot_at(const Shape& shape, Rank sender, Rank receiver) noexcept {
  if (one_slot(shape.operation)) return 0;
  return (relative(sender, receiver, shape.ranks) - 1) * shape.bytes;
}

/// To whom a member sends in a permute.
Rank permuted_to(const Shape& shape, Rank position) noexcept {
  return shape.blocks.of != nullptr ? shape.blocks.of->to : (position + 1) % shape.ranks;
}

/// How many other members this one may send to, and receive from.
std::uint32_t receivers_of(const Shape& shape, Rank position) noexcept {
  switch (shape.operation) {
    case Operation::scatter_v: return position == shape.root ? shape.ranks - 1 : 0;
    case Operation::gather_v: return position == shape.root ? 0 : 1;
    case Operation::permute: return permuted_to(shape, position) == position ? 0 : 1;
    default: return shape.ranks - 1;
  }
}
std::uint32_t senders_of(const Shape& shape, Rank position) noexcept {
  switch (shape.operation) {
    case Operation::scatter_v: return position == shape.root ? 0 : 1;
    case Operation::gather_v: return position == shape.root ? shape.ranks - 1 : 0;
    case Operation::permute: return permuted_to(shape, position) == position ? 0 : 1;
    default: return shape.ranks - 1;
  }
}
Rank receiver_at(const Shape& shape, Rank position, std::uint32_t index) noexcept {
  if (shape.operation == Operation::gather_v) return shape.root;
  if (shape.operation == Operation::permute) return permuted_to(shape, position);
  return absolute(index + 1, position, shape.ranks);
}
/// In the order in which they send. Of a permute nobody asks: its one slot is 0.
Rank sender_at(const Shape& shape, Rank position, std::uint32_t index) noexcept {
  if (shape.operation == Operation::scatter_v) return shape.root;
  return absolute(shape.ranks - 1 - index, position, shape.ranks);
}
/// Whether a member has a block for itself.
bool keeps_one(const Shape& shape, Rank position) noexcept {
  switch (shape.operation) {
    case Operation::scatter_v:
    case Operation::gather_v: return position == shape.root;
    case Operation::permute: return permuted_to(shape, position) == position;
    default: return true;
  }
}

BlockAt block_to(const Shape& shape, Rank to) noexcept {
  if (const MemberBlocks* const blocks = shape.blocks.of)
    return blocks->part(blocks->sends[shape.operation == Operation::permute ? 0 : to], shape.bytes);
  const bool many = shape.operation == Operation::scatter_v || shape.operation == Operation::all_to_all_v;
  return {many ? to * shape.pitch : 0, shape.bytes};
}
BlockAt block_from(const Shape& shape, Rank from) noexcept {
  if (const MemberBlocks* const blocks = shape.blocks.of)
    return blocks->part(blocks->receives[shape.operation == Operation::permute ? 0 : from], shape.bytes);
  return {one_slot(shape.operation) ? 0 : from * shape.pitch, shape.bytes};
}

Needs block_slots_needs(const Shape& shape) noexcept {
  return {.scratch = slots_of(shape) * shape.bytes, .counters = 1};
}

// A put to each receiver, the own copy, a copy for each sender. Those of empty blocks do nothing, so a step's peer follows
// from its index alone.
std::uint32_t block_slots_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return receivers_of(shape, position) + (keeps_one(shape, position) ? 1 : 0) + senders_of(shape, position);
}

Step block_slots_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const std::uint32_t puts = receivers_of(shape, position);
  if (index < puts) {
    const Rank peer = receiver_at(shape, position, index);
    const BlockAt block = block_to(shape, peer);
    if (block.bytes == 0) return {};
    return put_to(peer, at(Space::in, block.at), at(Space::scratch, slot_at(shape, position, peer)),
                  block.bytes, kFullSlots);
  }
  index -= puts;
  if (keeps_one(shape, position)) {
    const BlockAt block = block_to(shape, position);
    if (index == 0 && block.bytes == 0) return {};
    if (index == 0)
      return copy_of(at(Space::in, block.at), at(Space::out, block_from(shape, position).at), block.bytes);
    --index;
  }
  const Rank peer = sender_at(shape, position, index);
  const BlockAt block = block_from(shape, peer);
  Step step;
  if (block.bytes != 0)
    step = copy_of(at(Space::scratch, slot_at(shape, peer, position)), at(Space::out, block.at), block.bytes);
  const std::uint32_t all =
      shape.blocks.of != nullptr ? shape.blocks.of->senders : senders_of(shape, position);
  return index == 0 && all > 0 ? after(step, kFullSlots, all) : step;
}

Cost block_slots_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  std::uint64_t edges = shape.ranks - 1;
  if (shape.operation == Operation::permute) edges = shape.ranks;
  if (shape.operation == Operation::all_gather_v || shape.operation == Operation::all_to_all_v)
    edges *= shape.ranks;
  return {.messages = edges, .bytes = edges * shape.bytes, .depth = 1};
}

constexpr Algorithm block_slots(Operation operation) noexcept {
  return {
      .name = "slots",
      .operation = operation,
      .parameters = {},
      .refusal = no_refusal,
      .needs = block_slots_needs,
      .lanes = one_lane,
      .length = block_slots_length,
      .step = block_slots_step,
      .cost = block_slots_cost,
  };
}

}  // namespace

constinit const Algorithm kScatterVSlots = block_slots(Operation::scatter_v);
constinit const Algorithm kGatherVSlots = block_slots(Operation::gather_v);
constinit const Algorithm kAllGatherVSlots = block_slots(Operation::all_gather_v);
constinit const Algorithm kAllToAllVSlots = block_slots(Operation::all_to_all_v);
constinit const Algorithm kPermuteSlots = block_slots(Operation::permute);

}  // namespace aqueduct::coll
