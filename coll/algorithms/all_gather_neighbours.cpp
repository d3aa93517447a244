#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Neighbour exchange, for an even number of members on a ring. First the members 2i and 2i + 1 exchange their blocks.
// Then every member exchanges pairs of blocks with its two neighbours in turn, the other one first: it puts the pair that
// it got in the round before. P / 2 rounds between neighbours only: half as many messages as the ring, twice as long.
//
// Each round has its own counter, so the number of members is limited.
// Source: Chen et al., Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet,
//         HPC Asia 2005.

namespace {

/// Chosen: counters are leased from a few hundred.
constexpr Rank kMostNeighbours = 460;

/// The pair of blocks, 2p and 2p + 1, that a member puts in a round; in round 0 only its own block.
Rank pair_sent(const Shape& shape, Rank position, std::uint32_t round) noexcept {
  // The pairs that arrive are the next ones, by turns on the two sides. After the own pair, an even member gets that
  // before it, and an odd member that behind it.
  const Rank pairs = shape.ranks / 2;
  if (round < 2) return position / 2;
  const Rank distance = round / 2;
  const bool before = (round % 2 == 0) == (position % 2 == 0);
  return (position / 2 + (before ? pairs - distance : distance)) % pairs;
}
Rank neighbour(const Shape& shape, Rank position, std::uint32_t round) noexcept {
  const bool behind = (position + round) % 2 == 0;
  return absolute(behind ? 1 : shape.ranks - 1, position, shape.ranks);
}

Needs all_gather_neighbours_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.ranks * shape.bytes, .counters = shape.ranks / 2};
}

// The own block into scratch; a put for each round; the copy to the output.
std::uint32_t all_gather_neighbours_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  return shape.bytes == 0 ? 0 : shape.ranks / 2 + 2;
}

Step all_gather_neighbours_step(const Shape& shape, Rank position, std::uint32_t,
                                std::uint32_t index) noexcept {
  const Place own = at(Space::scratch, position * shape.bytes);
  if (index == 0) return copy_of(at(Space::in, 0), own, shape.bytes);
  const std::uint32_t round = index - 1;
  Step step;
  if (round == shape.ranks / 2) {
    step = copy_of({Space::scratch, 0, shape.bytes}, {Space::out, 0, shape.pitch}, shape.bytes);
    step.runs = shape.ranks;
  } else {
    const Place sent =
        round == 0 ? own : at(Space::scratch, 2 * pair_sent(shape, position, round) * shape.bytes);
    step = put_to(neighbour(shape, position, round), sent, sent, (round == 0 ? 1 : 2) * shape.bytes,
                  static_cast<Counter>(round));
  }
  return round == 0 ? step : after(step, static_cast<Counter>(round - 1), 1);
}

Cost all_gather_neighbours_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  return {.messages = std::uint64_t{shape.ranks} * (shape.ranks / 2),
          .bytes = std::uint64_t{shape.ranks} * (shape.ranks - 1) * shape.bytes,
          .depth = shape.ranks / 2};
}

}  // namespace

const Algorithm kAllGatherNeighbours{
    .name = "neighbours",
    .operation = Operation::all_gather,
    .parameters = {},
    .refusal = [](const Shape& shape) noexcept -> const char* {
      if (shape.ranks % 2 != 0) return "it needs an even number of members";
      return shape.ranks > kMostNeighbours ? "it needs a counter for every two members: too many" : nullptr;
    },
    .needs = all_gather_neighbours_needs,
    .lanes = one_lane,
    .length = all_gather_neighbours_length,
    .step = all_gather_neighbours_step,
    .cost = all_gather_neighbours_cost,
};

}  // namespace aqueduct::coll
