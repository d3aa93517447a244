#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/circulant.hpp"
#include "coll/algorithms/member_lengths.hpp"

namespace aqueduct::coll {

// As the all-gather of this name, with blocks packed one behind the other in scratch: every member knows all lengths, and so
// where its blocks are to be with another. A round that would bring nothing is left out. Short blocks of many members.
//
// Source: circulant.hpp; for blocks of different lengths: Träff, Ripke, Siebert, Balaji, Thakur and Gropp, EuroPVM/MPI 2008.

namespace {

Needs all_gather_v_circulant_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.ranks * shape.bytes, .counters = rounds_of(shape.ranks, 2)};
}

// The own block into scratch; a put and a wait for each round; a copy for each member.
std::uint32_t all_gather_v_circulant_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return shape.ranks == 1 ? 1 : 1 + 2 * rounds_of(shape.ranks, 2) + shape.ranks;
}

/// The wait for what a round brings; nothing, if all of that is empty.
Step arrival_of_round(const Shape& shape, Rank position, const Circulant& graph,
                      std::uint32_t round) noexcept {
  const auto had = static_cast<Rank>(graph.skip(round));
  const auto more = static_cast<Rank>(graph.skip(round + 1)) - had;
  const std::uint64_t bytes = length_of_members(shape, position, (position + had) % shape.ranks, more);
  return bytes == 0 ? Step{} : wait_only(static_cast<Counter>(round), 1);
}

Step all_gather_v_circulant_step(const Shape& shape, Rank position, std::uint32_t,
                                 std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of_member(shape, 0, at(Space::in, 0));
  if (index == 0) {
    const std::uint64_t bytes = length_of_member(shape, position, position);
    return bytes == 0 ? Step{} : copy_of(own_block(shape, position), at(Space::scratch, 0), bytes);
  }
  --index;
  const Circulant graph(shape.ranks);
  if (index < 2 * graph.rounds) {
    const std::uint32_t round = index / 2;
    if (index % 2 == 1) return arrival_of_round(shape, position, graph, round);
    const auto had = static_cast<Rank>(graph.skip(round));
    const auto more = static_cast<Rank>(graph.skip(round + 1)) - had;
    const std::uint64_t bytes = length_of_members(shape, position, position, more);
    if (bytes == 0) return {};
    const Rank peer = graph.before(position, round);
    return put_to(peer, at(Space::scratch, 0),
                  at(Space::scratch, length_of_members(shape, position, peer, had)), bytes,
                  static_cast<Counter>(round));
  }
  index -= 2 * graph.rounds;
  const Rank distance = shape.ranks - 1 - index;
  return copy_of_member(shape, (position + distance) % shape.ranks,
                        at(Space::scratch, length_of_members(shape, position, position, distance)));
}

Cost all_gather_v_circulant_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint32_t rounds = rounds_of(shape.ranks, 2);
  return {.messages = std::uint64_t{rounds} * shape.ranks,
          .bytes = std::uint64_t{shape.ranks} * (shape.ranks - 1) * shape.bytes,
          .depth = rounds};
}

}  // namespace

const Algorithm kAllGatherVCirculant{
    .name = "circulant",
    .operation = Operation::all_gather_v,
    .parameters = {},
    .refusal = no_refusal,
    .needs = all_gather_v_circulant_needs,
    .lanes = one_lane,
    .length = all_gather_v_circulant_length,
    .step = all_gather_v_circulant_step,
    .cost = all_gather_v_circulant_cost,
};

}  // namespace aqueduct::coll
