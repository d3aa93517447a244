#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"

namespace aqueduct::coll {

// The vector is cut into a part for each member, and a part into segments. The sum of part p begins at member p + 1 and
// goes round the ring; each member adds its own. At member p it is whole, and goes round again as the result. Between
// neighbours only: long vectors on rings and tori. With several segments a member passes one on while the next arrives.
// The operator must be commutative, since the sums of different parts begin at different members.
//
// Each message has its own counter, so the number of members is limited.
// Cost:   2 (P - 1) messages a segment and 2 (P - 1) / P · bytes sent by each member.
// Source: Patarasuk and Yuan, J. Parallel Distrib. Comput. 69(2), 2009.

namespace {

constexpr Parameter kAllReduceRingParameters[] = {{"segments", 1, 16, 1}};
/// Chosen: counters are leased from a few hundred.
constexpr std::uint32_t kMostRingMessages = 230;

struct ReducingRing {
  Parts parts;
  std::uint32_t segments;  ///< of each part; none is empty, unless the part is
  std::uint32_t element;

  explicit ReducingRing(const Shape& shape) noexcept
      : parts(shape),
        segments(static_cast<std::uint32_t>(
            std::max<std::uint64_t>(std::min<std::uint64_t>(shape.parameters[0], parts.each), 1))),
        element(shape.element) {}

  std::uint64_t begin(std::uint64_t part, std::uint32_t segment) const noexcept {
    const std::uint64_t elements = parts.size(part, 1) / element;
    return parts.begin(part) + elements * segment / segments * element;
  }
  std::uint64_t bytes(std::uint64_t part, std::uint32_t segment) const noexcept {
    return begin(part, segment + 1) - begin(part, segment);
  }
  /// Messages on one way round.
  std::uint32_t way() const noexcept { return static_cast<std::uint32_t>(parts.ranks - 1); }
};

const char* all_reduce_ring_refusal(const Shape& shape) noexcept {
  if (!shape.commutative) return "it needs a commutative operator";
  if (shape.order == Order::exact) return "it does not combine one vector after the other";
  if (2 * std::uint64_t{shape.ranks - 1} * shape.parameters[0] > kMostRingMessages)
    return "it needs a counter for each member and segment: too many";
  return nullptr;
}

// Scratch: what arrives on the first way round, at its place in the vector; the same of the second way.
Needs all_reduce_ring_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const ReducingRing plan(shape);
  return {.scratch = 2 * shape.bytes, .temp = shape.bytes, .counters = 2 * plan.way() * plan.segments};
}

// Of each hop and segment: what is done with the arrival of the hop before, and a put. The first hop has no arrival, and
// behind the last there is no put.
std::uint32_t all_reduce_ring_length(const Shape& shape, Rank, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  const ReducingRing plan(shape);
  return shape.ranks == 1 ? 1 : 4 * plan.way() * plan.segments;
}

/// The put of a hop. On the first way round a member begins with the part before its own, on the second with its own.
Step ring_put(const Shape& shape, const ReducingRing& plan, Rank position, std::uint32_t hop,
              std::uint32_t segment) noexcept {
  const bool second = hop >= plan.way();
  const std::uint64_t part = (position + 2 * plan.parts.ranks - 1 - hop) % plan.parts.ranks;
  const std::uint64_t offset = plan.begin(part, segment);
  const Place slot = at(Space::scratch, (second ? shape.bytes : 0) + offset);
  Place from = second ? slot : at(Space::temp, offset);
  if (hop == 0) from = at(Space::in, offset);
  if (hop == plan.way()) from = at(Space::out, offset);
  return put_to(absolute(1, position, shape.ranks), from, slot, plan.bytes(part, segment),
                static_cast<Counter>(hop * plan.segments + segment));
}

/// What is done with the arrival of a hop: on the first way the sum, the last one being the result; then a copy.
Step ring_arrival(const Shape& shape, const ReducingRing& plan, Rank position, std::uint32_t hop,
                  std::uint32_t segment) noexcept {
  const bool second = hop >= plan.way();
  const std::uint64_t part = (position + 2 * plan.parts.ranks - 2 - hop) % plan.parts.ranks;
  const std::uint64_t offset = plan.begin(part, segment);
  const std::uint64_t bytes = plan.bytes(part, segment);
  const Place slot = at(Space::scratch, (second ? shape.bytes : 0) + offset);
  if (second) return copy_of(slot, at(Space::out, offset), bytes);
  return reduction(slot, at(Space::in, offset), at(hop + 1 == plan.way() ? Space::out : Space::temp, offset),
                   bytes);
}

Step all_reduce_ring_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  if (shape.ranks == 1) return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const ReducingRing plan(shape);
  const std::uint32_t hops = 2 * plan.way();
  if (index < plan.segments) return ring_put(shape, plan, position, 0, index);
  index += plan.segments;  // as if hop 0 had two steps for each segment
  const bool behind = index >= 2 * hops * plan.segments;
  const std::uint32_t hop = behind ? hops : index / 2 / plan.segments;
  const std::uint32_t segment = behind ? index - 2 * hops * plan.segments : index / 2 % plan.segments;
  const auto arrived = static_cast<Counter>((hop - 1) * plan.segments + segment);
  // A sum has to be there before it is sent; an arrived result is sent before it is copied.
  const bool sums = hop <= plan.way();
  const bool first = behind || index % 2 == 0;
  const Step step = behind || sums == first ? ring_arrival(shape, plan, position, hop - 1, segment)
                                            : ring_put(shape, plan, position, hop, segment);
  return first ? after(step, arrived, 1) : step;
}

Cost all_reduce_ring_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const ReducingRing plan(shape);
  return {.messages = 2 * std::uint64_t{plan.way()} * plan.segments * shape.ranks,
          .bytes = 2 * std::uint64_t{plan.way()} * shape.bytes,
          .depth = 2 * plan.way()};
}

}  // namespace

const Algorithm kAllReduceRing{
    .name = "ring",
    .operation = Operation::all_reduce,
    .parameters = kAllReduceRingParameters,
    .cuts = true,
    .refusal = all_reduce_ring_refusal,
    .needs = all_reduce_ring_needs,
    .lanes = one_lane,
    .length = all_reduce_ring_length,
    .step = all_reduce_ring_step,
    .cost = all_reduce_ring_cost,
};

}  // namespace aqueduct::coll
