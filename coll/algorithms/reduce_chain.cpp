#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"

namespace aqueduct::coll {

// Along a chain, in segments: a member adds its own segment to the sum that arrives, on the left of it, and passes it on.
// Long vectors. If the operator is commutative, the chain begins behind the root and ends at it. If not, it begins at
// member 0, so that one vector is combined after the other in team order, and the last member puts the result to the
// root.
//
// Cost: P - 1 messages a segment, or P. Time (P - 2 + s)(latency + bytes/s · gap) with s segments.

namespace {

constexpr Parameter kReduceChainParameters[] = {{"segments", 1, kMostSegments, 8}};

struct ReduceChain {
  Segments parts;
  Rank ranks;
  Rank root;
  Rank begin;  ///< the first member of the chain

  explicit ReduceChain(const Shape& shape) noexcept
      : parts(shape.bytes, shape.element, shape.parameters[0]),
        ranks(shape.ranks),
        root(shape.root),
        begin(shape.commutative && shape.order != Order::exact ? (shape.root + 1) % shape.ranks : 0) {}
  bool forwards() const noexcept { return absolute(ranks - 1, begin, ranks) != root; }
  Counter summed(std::uint32_t segment) const noexcept { return static_cast<Counter>(segment); }
  Counter forwarded(std::uint32_t segment) const noexcept {
    return static_cast<Counter>(parts.count + segment);
  }
};

// Scratch: the sum that arrives; then the result that is forwarded.
Needs reduce_chain_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const ReduceChain plan(shape);
  const std::uint32_t areas = plan.forwards() ? 2 : 1;
  return {.scratch = areas * shape.bytes, .temp = shape.bytes, .counters = areas * plan.parts.count};
}

// The root has a second lane for a result that is forwarded to it.
std::uint32_t reduce_chain_lanes(const Shape& shape, Rank position) noexcept {
  return position == shape.root && shape.ranks > 1 && ReduceChain(shape).forwards() ? 2 : 1;
}

// Of each segment a reduction and a put. The first member of the chain has no reduction; the last has no put if it is the
// root.
std::uint32_t reduce_chain_length(const Shape& shape, Rank position, std::uint32_t lane) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const ReduceChain plan(shape);
  const Rank here = relative(position, plan.begin, shape.ranks);
  const bool ends = here + 1 == shape.ranks && !plan.forwards();
  return plan.parts.count * (lane == 1 || here == 0 || ends ? 1 : 2);
}

Step reduce_chain_step(const Shape& shape, Rank position, std::uint32_t lane, std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const ReduceChain plan(shape);
  const Rank here = relative(position, plan.begin, shape.ranks);
  const bool last = here + 1 == shape.ranks;
  const bool one = lane == 1 || here == 0 || (last && !plan.forwards());
  const std::uint32_t segment = one ? index : index / 2;
  const std::uint64_t offset = plan.parts.begin(segment);
  const std::uint64_t bytes = plan.parts.size(segment);
  const Place arrived = at(Space::scratch, offset);
  const Place result = at(Space::scratch, shape.bytes + offset);
  if (lane == 1) return after(copy_of(result, at(Space::out, offset), bytes), plan.forwarded(segment), 1);
  const Place sum = at(last && !plan.forwards() ? Space::out : Space::temp, offset);
  if (here > 0 && (one || index % 2 == 0))
    return after(reduction(arrived, at(Space::in, offset), sum, bytes), plan.summed(segment), 1);
  const Place mine = here == 0 ? at(Space::in, offset) : sum;
  if (last) return put_to(shape.root, mine, result, bytes, plan.forwarded(segment));
  return put_to(absolute(here + 1, plan.begin, shape.ranks), mine, arrived, bytes, plan.summed(segment));
}

Cost reduce_chain_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const ReduceChain plan(shape);
  const Rank edges = shape.ranks - (plan.forwards() ? 0 : 1);
  return {.messages = std::uint64_t{edges} * plan.parts.count, .bytes = edges * shape.bytes, .depth = edges};
}

}  // namespace

const Algorithm kReduceChain{
    .name = "chain",
    .operation = Operation::reduce,
    .parameters = kReduceChainParameters,
    .refusal = no_refusal,
    .needs = reduce_chain_needs,
    .lanes = reduce_chain_lanes,
    .length = reduce_chain_length,
    .step = reduce_chain_step,
    .cost = reduce_chain_cost,
};

}  // namespace aqueduct::coll
