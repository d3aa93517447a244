#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// Every member puts each block to its owner, which has a slot for each member and combines one after the other in team
// order. One message deep; the result does not depend on anything but the inputs. Few members, or long blocks.

namespace {

constexpr Counter kBlocksArrived = 0;

Needs reduce_scatter_direct_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.ranks * shape.bytes, .temp = shape.bytes, .counters = 1};
}

std::uint32_t reduce_scatter_direct_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  return shape.ranks == 1 ? 1 : 2 * (shape.ranks - 1);
}

Step reduce_scatter_direct_step(const Shape& shape, Rank position, std::uint32_t,
                                std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const std::uint32_t others = shape.ranks - 1;
  if (index < others) {
    const Rank peer = absolute(index + 1, position, shape.ranks);
    return put_to(peer, at(Space::in, peer * shape.pitch), at(Space::scratch, position * shape.bytes),
                  shape.bytes, kBlocksArrived);
  }
  index -= others;
  const auto value = [&](Rank of) {
    return of == position ? at(Space::in, position * shape.pitch) : at(Space::scratch, of * shape.bytes);
  };
  // The output may be where the own block is, which is needed until the last but one reduction.
  const Place to = at(index + 1 == others ? Space::out : Space::temp, 0);
  const Step step = reduction(index == 0 ? value(0) : at(Space::temp, 0), value(index + 1), to, shape.bytes);
  return index == 0 ? after(step, kBlocksArrived, others) : step;
}

Cost reduce_scatter_direct_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const std::uint64_t edges = std::uint64_t{shape.ranks} * (shape.ranks - 1);
  return {.messages = edges, .bytes = edges * shape.bytes, .depth = 1};
}

}  // namespace

const Algorithm kReduceScatterDirect{
    .name = "direct",
    .operation = Operation::reduce_scatter,
    .parameters = {},
    .refusal = no_refusal,
    .needs = reduce_scatter_direct_needs,
    .lanes = one_lane,
    .length = reduce_scatter_direct_length,
    .step = reduce_scatter_direct_step,
    .cost = reduce_scatter_direct_cost,
};

}  // namespace aqueduct::coll
