#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/pairwise.hpp"

namespace aqueduct::coll {

// In the rounds of pairwise.hpp: as `slots`, but a member is written to by few others at a time. Blocks without bytes are not
// sent, and not waited for.

namespace {

constexpr Parameter kAllToAllVPairwiseParameters[] = {{"window", 1, 64, 1}};

BlockAt block_for(const Shape& shape, Rank to) noexcept {
  const MemberBlocks* const blocks = shape.blocks.of;
  if (blocks == nullptr) return {to * shape.pitch, shape.bytes};
  return blocks->part(blocks->sends[to], shape.bytes);
}
BlockAt block_of(const Shape& shape, Rank from) noexcept {
  const MemberBlocks* const blocks = shape.blocks.of;
  if (blocks == nullptr) return {from * shape.pitch, shape.bytes};
  return blocks->part(blocks->receives[from], shape.bytes);
}

// The own copy; a put and a copy for each round.
std::uint32_t all_to_all_v_pairwise_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  return shape.bytes == 0 ? 0 : 2 * shape.ranks - 1;
}

/// How many blocks of a window come to this member.
std::uint32_t senders_in(const Shape& shape, const PairwiseRounds& rounds, std::uint32_t window) noexcept {
  std::uint32_t count = 0;
  const std::uint32_t first = window * rounds.width + 1;
  for (std::uint32_t round = first; round < first + rounds.width_at(window); ++round)
    count += block_of(shape, rounds.source(round)).bytes != 0 ? 1 : 0;
  return count;
}

Step all_to_all_v_pairwise_step(const Shape& shape, Rank position, std::uint32_t,
                                std::uint32_t index) noexcept {
  if (index == 0) {
    const BlockAt to = block_of(shape, position);
    if (to.bytes == 0) return {};
    return copy_of(at(Space::in, block_for(shape, position).at), at(Space::out, to.at), to.bytes);
  }
  const PairwiseRounds rounds(shape, position);
  const PairwiseTurn turn(rounds, index - 1);
  const Place slot = at(Space::scratch, (turn.round - 1) * shape.bytes);
  const auto arrived = static_cast<Counter>(turn.window);
  if (turn.sends) {
    const Rank peer = rounds.target(turn.round);
    const BlockAt block = block_for(shape, peer);
    return block.bytes == 0 ? Step{} : put_to(peer, at(Space::in, block.at), slot, block.bytes, arrived);
  }
  const BlockAt block = block_of(shape, rounds.source(turn.round));
  const Step copy = block.bytes == 0 ? Step{} : copy_of(slot, at(Space::out, block.at), block.bytes);
  if (!turn.first_arrival) return copy;
  const std::uint32_t all = senders_in(shape, rounds, turn.window);
  return all == 0 ? copy : after(copy, arrived, all);
}

}  // namespace

const Algorithm kAllToAllVPairwise{
    .name = "pairwise",
    .operation = Operation::all_to_all_v,
    .parameters = kAllToAllVPairwiseParameters,
    .refusal = pairwise_refusal,
    .needs = pairwise_needs,
    .lanes = one_lane,
    .length = all_to_all_v_pairwise_length,
    .step = all_to_all_v_pairwise_step,
    .cost = pairwise_cost,
};

}  // namespace aqueduct::coll
