#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"

namespace aqueduct::coll {

// Scan and exscan along the chain of all members, in segments: one vector is combined after the other in team order.
// Long vectors. In an exscan the output of member 0 is not written.
//
// Cost: P - 1 messages a segment. Time (P - 2 + s)(latency + bytes/s · gap) with s segments.

namespace {

constexpr Parameter kScanChainParameters[] = {{"segments", 1, kMostSegments, 8}};

Segments scan_segments(const Shape& shape) noexcept {
  return {shape.bytes, shape.element, shape.parameters[0]};
}
bool is_exclusive(const Shape& shape) noexcept { return shape.operation == Operation::exscan; }

Needs scan_chain_needs(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = shape.bytes,
          .temp = is_exclusive(shape) ? shape.bytes : 0,
          .counters = scan_segments(shape).count};
}

// Of each segment, if they apply: the sum with the own vector, the put to the next member, and of an exscan the copy of
// what arrived. In a scan, member 0 copies at the end.
std::uint32_t scan_chain_length(const Shape& shape, Rank position, std::uint32_t) noexcept {
  if (shape.bytes == 0) return 0;
  const std::uint32_t segments = scan_segments(shape).count;
  const bool last = position + 1 == shape.ranks;
  const bool exclusive = is_exclusive(shape);
  if (position == 0) return (last ? 0 : segments) + (exclusive ? 0 : 1);
  return segments * (last ? 1 : exclusive ? 3 : 2);
}

Step scan_chain_step(const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
  const Segments parts = scan_segments(shape);
  const bool last = position + 1 == shape.ranks;
  const bool exclusive = is_exclusive(shape);
  if (position == 0 && (last || index == parts.count))
    return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
  const std::uint32_t each = position == 0 || last ? 1 : exclusive ? 3 : 2;
  const std::uint32_t segment = index / each;
  const std::uint64_t offset = parts.begin(segment);
  const std::uint64_t bytes = parts.size(segment);
  const auto arrived = static_cast<Counter>(segment);
  const Place in = at(Space::in, offset);
  const Place out = at(Space::out, offset);
  const Place slot = at(Space::scratch, offset);
  const Place sum = exclusive ? at(Space::temp, offset) : out;
  const Step copy = copy_of(slot, out, bytes);
  if (position > 0 && index % each == 0)
    return after(exclusive && last ? copy : reduction(slot, in, sum, bytes), arrived, 1);
  if (index % each == 2) return copy;
  return put_to(position + 1, position == 0 ? in : sum, slot, bytes, arrived);
}

Cost scan_chain_cost(const Shape& shape) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  const Rank edges = shape.ranks - 1;
  return {.messages = std::uint64_t{edges} * scan_segments(shape).count,
          .bytes = edges * shape.bytes,
          .depth = edges};
}

}  // namespace

const Algorithm kScanChain{
    .name = "chain",
    .operation = Operation::scan,
    .parameters = kScanChainParameters,
    .refusal = no_refusal,
    .needs = scan_chain_needs,
    .lanes = one_lane,
    .length = scan_chain_length,
    .step = scan_chain_step,
    .cost = scan_chain_cost,
};

const Algorithm kExscanChain{
    .name = "chain",
    .operation = Operation::exscan,
    .parameters = kScanChainParameters,
    .refusal = no_refusal,
    .needs = scan_chain_needs,
    .lanes = one_lane,
    .length = scan_chain_length,
    .step = scan_chain_step,
    .cost = scan_chain_cost,
};

}  // namespace aqueduct::coll
