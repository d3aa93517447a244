#pragma once

#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Blocks of all members in an all_gather_v, as each of them knows their lengths.

/// The run's part of a member's block.
inline std::uint64_t length_of_member(const Shape& shape, Rank position, Rank member) noexcept {
  const MemberBlocks* const blocks = shape.blocks.of;
  if (blocks == nullptr) return shape.bytes;
  // A member need not say what it receives from itself.
  const BlockAt& block = member == position ? blocks->sends[position == 0 ? 1 : 0] : blocks->receives[member];
  return blocks->part(block, shape.bytes).bytes;
}

/// The bytes of `count` members' blocks, from `first` on.
inline std::uint64_t length_of_members(const Shape& shape, Rank position, Rank first, Rank count) noexcept {
  if (shape.blocks.of == nullptr) return count * shape.bytes;
  std::uint64_t sum = 0;
  for (Rank i = 0; i < count; ++i) {
    const Rank member = first + i < shape.ranks ? first + i : first + i - shape.ranks;
    sum += length_of_member(shape, position, member);
  }
  return sum;
}

/// The copy of a member's block to its place in the output. Nothing for a block that the caller has copied itself.
inline Step copy_of_member(const Shape& shape, Rank member, const Place& from) noexcept {
  const MemberBlocks* const blocks = shape.blocks.of;
  const BlockAt to = blocks == nullptr ? BlockAt{member * shape.pitch, shape.bytes}
                                       : blocks->part(blocks->receives[member], shape.bytes);
  return to.bytes == 0 ? Step{} : copy_of(from, at(Space::out, to.at), to.bytes);
}

/// The beginning of the run's part of this member's own block.
inline Place own_block(const Shape& shape, Rank position) noexcept {
  const MemberBlocks* const blocks = shape.blocks.of;
  if (blocks == nullptr) return at(Space::in, 0);
  return at(Space::in, blocks->part(blocks->sends[position == 0 ? 1 : 0], shape.bytes).at);
}

}  // namespace aqueduct::coll
