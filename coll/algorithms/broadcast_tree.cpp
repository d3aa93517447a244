#include "coll/algorithms/broadcast_tree.hpp"

namespace aqueduct::coll {

Needs broadcast_tree_needs(const Shape& shape, std::uint32_t segments) noexcept {
  if (shape.ranks == 1) return {};
  return {.scratch = shape.bytes, .counters = Segments(shape.bytes, shape.element, segments).count};
}

// Of each segment: a put for each child, then the copy to the output.
std::uint32_t broadcast_tree_length(const Shape& shape, const Tree& tree, Rank position,
                                    std::uint32_t segments) noexcept {
  const Rank here = relative(position, shape.root, shape.ranks);
  return Segments(shape.bytes, shape.element, segments).count * (tree.children(here) + 1);
}

Step broadcast_tree_step(const Shape& shape, const Tree& tree, Rank position, std::uint32_t index,
                         std::uint32_t segments) noexcept {
  const Segments parts(shape.bytes, shape.element, segments);
  const Rank here = relative(position, shape.root, shape.ranks);
  const std::uint32_t children = tree.children(here);
  const std::uint32_t segment = index / (children + 1);
  const std::uint32_t child = index % (children + 1);
  const std::uint64_t offset = parts.begin(segment);
  const auto arrived = static_cast<Counter>(segment);
  const Place from = at(here == 0 ? Space::in : Space::scratch, offset);
  const Step step = child < children ? put_to(absolute(tree.child(here, child), shape.root, shape.ranks),
                                              from, at(Space::scratch, offset), parts.size(segment), arrived)
                                     : copy_of(from, at(Space::out, offset), parts.size(segment));
  return here != 0 && child == 0 ? after(step, arrived, 1) : step;
}

Cost broadcast_tree_cost(const Shape& shape, const Tree& tree, std::uint32_t segments) noexcept {
  const std::uint32_t count = Segments(shape.bytes, shape.element, segments).count;
  if (shape.ranks == 1 || count == 0) return {};
  return {.messages = std::uint64_t{shape.ranks - 1} * count,
          .bytes = (shape.ranks - 1) * shape.bytes,
          .depth = tree.depth()};
}

}  // namespace aqueduct::coll
