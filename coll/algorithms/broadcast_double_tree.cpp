#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/broadcast_tree.hpp"

namespace aqueduct::coll {

// Two binary trees over the members other than the root, such that no member has children in both. The block is cut into
// segments; those with even numbers go down the first tree, the others down the second. So a member sends each segment
// as often as it receives one, while in one binary tree half of the members send nothing. Long blocks.
//
// In the first tree the members have the labels 1 to P - 1. A label's children differ by less than its lowest bit, so
// odd labels are leaves. In the second tree the labels are mirrored if there is an even number of them, otherwise turned
// by one: then the odd ones are, but for one, the even ones of the first. The segments go to scratch and are copied.
//
// Cost:   P - 1 messages a segment. Time about (sqrt(bytes · gap) + sqrt(2 log2 P · latency))².
// Source: Sanders, Speck and Träff, Two-tree Algorithms for Full Bandwidth Broadcast, Reduction and Scan, Parallel
//         Computing 35(12), 2009.

namespace {

constexpr Parameter kBroadcastDoubleTreeParameters[] = {{"segments", 1, kMostSegments, 8}};

/// One of the two trees: its labels are 1 to `labels`.
struct HalfTree {
  Rank labels;
  bool second;

  Rank label(Rank here) const noexcept {
    if (!second) return here;
    if (labels % 2 == 0) return labels + 1 - here;
    return here == 1 ? labels : here - 1;
  }
  Rank here(Rank label) const noexcept {
    if (!second) return label;
    if (labels % 2 == 0) return labels + 1 - label;
    return label == labels ? 1 : label + 1;
  }
  /// The member that the root puts to: the label with the highest bit.
  Rank top() const noexcept {
    Rank label = 1;
    while (label <= labels / 2) label *= 2;
    return here(label);
  }
  /// 0, 1 or 2 labels: first the lower one.
  std::uint32_t children(Rank label) const noexcept {
    if (label % 2 != 0) return 0;
    return label < labels ? 2 : 1;
  }
  Rank child(Rank label, std::uint32_t index) const noexcept {
    Rank distance = (label & (~label + 1)) / 2;
    if (index == 0) return label - distance;
    while (label + distance > labels) distance /= 2;
    return label + distance;
  }
};

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
};

}  // namespace aqueduct::coll
