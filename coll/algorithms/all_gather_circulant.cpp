#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/circulant.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Every member collects blocks in scratch, its own first, then those of the members behind it in order. In the round of
// distance s it has s blocks, and puts the first of them to the member at distance s before it. As many rounds and bytes
// as Bruck's algorithm with radix 2, but the messages of the last rounds have nearly equal lengths.
//
// Source: circulant.hpp.

namespace {

Needs all_gather_circulant_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0) return {};
  return {.scratch = shape.ranks * shape.bytes, .counters = rounds_of(shape.ranks, 2)};
}

// The own block into scratch; a put for each round; two copies into the output, member 0 one.
std::uint32_t all_gather_circulant_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  return shape.bytes == 0 ? 0 : 1 + rounds_of(shape.ranks, 2) + (position == 0 ? 1 : 2);
}

Step all_gather_circulant_step(const Shape& shape, Rank position, std::uint32_t,
                               std::uint32_t index) noexcept {
  if (index == 0) return copy_of(at(Space::in, 0), at(Space::scratch, 0), shape.bytes);
  --index;
  const Circulant graph(shape.ranks);
  if (index < graph.rounds) {
    const std::uint64_t had = graph.skip(index);
    const Step put =
        put_to(graph.before(position, index), at(Space::scratch, 0), at(Space::scratch, had * shape.bytes),
               (graph.skip(index + 1) - had) * shape.bytes, static_cast<Counter>(index));
    return index == 0 ? put : after(put, static_cast<Counter>(index - 1), 1);
  }
  index -= graph.rounds;
  const bool last = index == 0 && position > 0;  // the blocks that came last
  const Rank behind = shape.ranks - position;
  Step copy;
  copy.kind = Step::Kind::copy;
  copy.from = {Space::scratch, last ? behind * shape.bytes : 0, shape.bytes};
  copy.to = {Space::out, last ? 0 : position * shape.pitch, shape.pitch};
  copy.bytes = shape.bytes;
  copy.runs = last ? position : behind;
  return index > 0 || graph.rounds == 0 ? copy : after(copy, static_cast<Counter>(graph.rounds - 1), 1);
}

Cost all_gather_circulant_cost(const Shape& shape) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  const std::uint32_t rounds = rounds_of(shape.ranks, 2);
  return {.messages = std::uint64_t{rounds} * shape.ranks,
          .bytes = std::uint64_t{shape.ranks} * (shape.ranks - 1) * shape.bytes,
          .depth = rounds};
}

}  // namespace

const Algorithm kAllGatherCirculant{
    .name = "circulant",
    .operation = Operation::all_gather,
    .parameters = {},
    .refusal = no_refusal,
    .needs = all_gather_circulant_needs,
    .lanes = one_lane,
    .length = all_gather_circulant_length,
    .step = all_gather_circulant_step,
    .cost = all_gather_circulant_cost,
};

}  // namespace aqueduct::coll
