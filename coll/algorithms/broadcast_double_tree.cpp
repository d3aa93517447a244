#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"
#include "coll/algorithms/double_tree.hpp"

namespace aqueduct::coll {

// Down the two trees of double_tree.hpp. Long blocks. The segments go to scratch and are copied.
//
// Cost:   P - 1 messages a segment. Time about (sqrt(bytes · gap) + sqrt(2 log2 P · latency))².

namespace {

constexpr Parameter kBroadcastDoubleTreeParameters[] = {{"segments", 1, kMostSegments, 8}};

Needs broadcast_double_tree_needs(const Shape& shape) noexcept {
  return broadcast_tree_needs(shape, shape.parameters[0]);
}

// A lane for each tree. The root has one, for both.
std::uint32_t broadcast_double_tree_lanes(const Shape& shape, Rank position) noexcept {
  return position == shape.root ? 1 : 2;
}

// The root: a put of each segment, and a copy. The others: of each segment of the tree a put for each child, and a copy.
std::uint32_t broadcast_double_tree_length(const Shape& shape, Rank position, std::uint32_t lane) noexcept {
  const std::uint32_t segments = Segments(shape.bytes, shape.element, shape.parameters[0]).count;
  if (segments == 0) return 0;
  if (position == shape.root) return (shape.ranks == 1 ? 0 : segments) + 1;
  const HalfTree tree{shape.ranks - 1, lane == 1};
  const Rank here = relative(position, shape.root, shape.ranks);
  return (segments + (lane == 0 ? 1 : 0)) / 2 * (tree.children(tree.label(here)) + 1);
}

Step broadcast_double_tree_step(const Shape& shape, Rank position, std::uint32_t lane,
                                std::uint32_t index) noexcept {
  const Segments parts(shape.bytes, shape.element, shape.parameters[0]);
  const auto put = [&](Rank here, Space from, std::uint32_t segment) {
    const std::uint64_t offset = parts.begin(segment);
    return put_to(absolute(here, shape.root, shape.ranks), at(from, offset), at(Space::scratch, offset),
                  parts.size(segment), static_cast<Counter>(segment));
  };
  if (position == shape.root) {
    if (shape.ranks == 1 || index == parts.count)
      return copy_of(at(Space::in, 0), at(Space::out, 0), shape.bytes);
    return put(HalfTree{shape.ranks - 1, index % 2 == 1}.top(), Space::in, index);
  }
  const HalfTree tree{shape.ranks - 1, lane == 1};
  const Rank label = tree.label(relative(position, shape.root, shape.ranks));
  const std::uint32_t children = tree.children(label);
  const std::uint32_t segment = index / (children + 1) * 2 + lane;
  const std::uint32_t child = index % (children + 1);
  const std::uint64_t offset = parts.begin(segment);
  const Step step = child < children
                        ? put(tree.here(tree.child(label, child)), Space::scratch, segment)
                        : copy_of(at(Space::scratch, offset), at(Space::out, offset), parts.size(segment));
  return child == 0 ? after(step, static_cast<Counter>(segment), 1) : step;
}

Cost broadcast_double_tree_cost(const Shape& shape) noexcept {
  const std::uint32_t segments = Segments(shape.bytes, shape.element, shape.parameters[0]).count;
  if (shape.ranks == 1 || segments == 0) return {};
  // The lowest label is the deepest, or one of these: a bit for each edge.
  return {.messages = std::uint64_t{shape.ranks - 1} * segments,
          .bytes = (shape.ranks - 1) * shape.bytes,
          .depth = rounds_of(shape.ranks, 2)};
}

}  // namespace

const Algorithm kBroadcastDoubleTree{
    .name = "double-tree",
    .operation = Operation::broadcast,
    .parameters = kBroadcastDoubleTreeParameters,
    .refusal = no_refusal,
    .needs = broadcast_double_tree_needs,
    .lanes = broadcast_double_tree_lanes,
    .length = broadcast_double_tree_length,
    .step = broadcast_double_tree_step,
    .cost = broadcast_double_tree_cost,
    .brief = brief_by<broadcast_double_tree_step>,
};

}  // namespace aqueduct::coll
