#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/circulant.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Every member keeps partial sums of all blocks, its own first, then those of the members behind it in order. In the
// round of distance s it puts the sums beyond the first s to the member at that distance, which adds them to its own
// first ones. After ceil(log2 P) rounds it has the sum of its own block. Any number of members; a commutative operator.
//
// Cost:   ceil(log2 P) messages and (P - 1) blocks sent by each member.
// Source: circulant.hpp.

namespace {

Place circulant_sums(const Shape& shape, std::uint64_t index) noexcept {
  return at(Space::temp, index * shape.bytes);
}

Needs reduce_scatter_circulant_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = (shape.ranks - 1) * shape.bytes,
          .temp = shape.ranks * shape.bytes,
          .counters = rounds_of(shape.ranks, 2)};
}

// Two copies, member 0 one; a put and a reduction for each round.
std::uint32_t reduce_scatter_circulant_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  return (position == 0 ? 1 : 2) + 2 * rounds_of(shape.ranks, 2);
}

Step reduce_scatter_circulant_step(const Shape& shape, Rank position, std::uint32_t,
                                   std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const std::uint32_t copies = position == 0 ? 1 : 2;
  if (index < copies) {
    const Rank behind = shape.ranks - position;
    Step copy;
    copy.kind = Step::Kind::copy;
    copy.from = {Space::in, index == 0 ? position * shape.pitch : 0, shape.pitch};
    copy.to = {Space::temp, index == 0 ? 0 : behind * shape.bytes, shape.bytes};
    copy.bytes = shape.bytes;
    copy.runs = index == 0 ? behind : position;
    return copy;
  }
  index -= copies;
  const Circulant graph(shape.ranks);
  const std::uint32_t k = graph.rounds - 1 - index / 2;
  const std::uint64_t kept = graph.skip(k);
  const std::uint64_t bytes = (graph.skip(k + 1) - kept) * shape.bytes;
  const Place slot = at(Space::scratch, (graph.ranks - graph.skip(k + 1)) * shape.bytes);
  if (index % 2 == 0)
    return put_to(graph.behind(position, k), circulant_sums(shape, kept), slot, bytes,
                  static_cast<Counter>(k));
  const Place sum = circulant_sums(shape, 0);
  return after(reduction(sum, slot, k == 0 ? at(Space::out, 0) : sum, bytes), static_cast<Counter>(k), 1);
}

Cost reduce_scatter_circulant_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const std::uint32_t rounds = rounds_of(shape.ranks, 2);
  return {.messages = std::uint64_t{rounds} * shape.ranks,
          .bytes = std::uint64_t{shape.ranks} * (shape.ranks - 1) * shape.bytes,
          .depth = rounds};
}

}  // namespace

const Algorithm kReduceScatterCirculant{
    .name = "circulant",
    .operation = Operation::reduce_scatter,
    .parameters = {},
    .refusal = [](const Shape& shape) noexcept -> const char* {
      if (!shape.commutative) return "it needs a commutative operator";
      return shape.order == Order::exact ? "it does not combine one block after the other" : nullptr;
    },
    .needs = reduce_scatter_circulant_needs,
    .lanes = one_lane,
    .length = reduce_scatter_circulant_length,
    .step = reduce_scatter_circulant_step,
    .cost = reduce_scatter_circulant_cost,
};

}  // namespace aqueduct::coll
