#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Every member collects blocks in scratch, its own first, then those of the members behind it in order. In the round of
// width w = k^j it has w blocks. It puts them to the members at distances w, 2w, …, (k-1)w before it, where they are the
// blocks from that distance on. At the end the blocks are copied to the output, turned so that block 0 comes first.
//
// Any number of members; ceil(log_k P) rounds: short blocks.
// Source: Bruck et al., IEEE Trans. Parallel Distrib. Syst. 8(11), 1997.

namespace {

constexpr Parameter kAllGatherBruckParameters[] = {{"radix", 2, 64, 2}};

/// A put: its round, and its distance, which is (number + 1)·width.
struct Sent {
  std::uint32_t round = 0;
  std::uint64_t width = 1;
  std::uint32_t number = 0;
};

std::uint32_t puts_in(const Shape& shape, std::uint64_t width) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(shape.parameters[0] - 1, (shape.ranks - 1) / width));
}
Sent sent_as(const Shape& shape, std::uint32_t index) noexcept {
  Sent sent;
  for (std::uint32_t in_round = puts_in(shape, 1); index >= in_round; in_round = puts_in(shape, sent.width)) {
    index -= in_round;
    sent.width *= shape.parameters[0];
    ++sent.round;
  }
  sent.number = index;
  return sent;
}
std::uint32_t all_puts(const Shape& shape) noexcept {
  std::uint32_t all = 0;
  for (std::uint64_t width = 1; width < shape.ranks; width *= shape.parameters[0])
    all += puts_in(shape, width);
  return all;
}

Needs all_gather_bruck_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  return {.scratch = shape.ranks * shape.bytes, .counters = rounds_of(shape.ranks, shape.parameters[0])};
}

// The own block into scratch; the puts; two copies into the output, of the blocks of the members before this one and of
// the others. The first member has none before it.
std::uint32_t all_gather_bruck_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return 1 + all_puts(shape) + (position == 0 ? 1 : 2);
}

Step all_gather_bruck_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (index == 0) return copy_of(at(Space::in, 0), at(Space::scratch, 0), shape.bytes);
  --index;
  const std::uint32_t puts = all_puts(shape);
  const std::uint32_t rounds = rounds_of(shape.ranks, shape.parameters[0]);
  if (index < puts) {
    const Sent sent = sent_as(shape, index);
    const std::uint64_t distance = (sent.number + 1) * sent.width;
    const std::uint64_t blocks = std::min(sent.width, shape.ranks - distance);
    const auto peer = static_cast<Rank>((position + shape.ranks - distance) % shape.ranks);
    const Step put = put_to(peer, at(Space::scratch, 0), at(Space::scratch, distance * shape.bytes),
                            blocks * shape.bytes, static_cast<Counter>(sent.round));
    if (sent.round == 0 || sent.number > 0) return put;
    return after(put, static_cast<Counter>(sent.round - 1), puts_in(shape, sent.width / shape.parameters[0]));
  }
  index -= puts;
  Step copy;
  copy.kind = Step::Kind::copy;
  copy.bytes = shape.bytes;
  if (index == 0 && position > 0) {  // the blocks that came last
    copy.from = {Space::scratch, (shape.ranks - position) * shape.bytes, shape.bytes};
    copy.to = {Space::out, 0, shape.pitch};
    copy.runs = position;
  } else {
    copy.from = {Space::scratch, 0, shape.bytes};
    copy.to = {Space::out, position * shape.pitch, shape.pitch};
    copy.runs = shape.ranks - position;
  }
  if (index > 0 || rounds == 0) return copy;
  std::uint64_t width = 1;
  for (std::uint32_t round = 1; round < rounds; ++round) width *= shape.parameters[0];
  return after(copy, static_cast<Counter>(rounds - 1), puts_in(shape, width));
}

Cost all_gather_bruck_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  return {.messages = std::uint64_t{all_puts(shape)} * shape.ranks,
          .bytes = std::uint64_t{shape.ranks} * (shape.ranks - 1) * shape.bytes,
          .depth = rounds_of(shape.ranks, shape.parameters[0])};
}

}  // namespace

const Algorithm kAllGatherBruck{
    .name = "bruck",
    .operation = Operation::all_gather,
    .parameters = kAllGatherBruckParameters,
    .refusal = no_refusal,
    .needs = all_gather_bruck_needs,
    .lanes = one_lane,
    .length = all_gather_bruck_length,
    .step = all_gather_bruck_step,
    .cost = all_gather_bruck_cost,
};

}  // namespace aqueduct::coll
