#include "coll/algorithms/gather_tree.hpp"

namespace aqueduct::coll {

namespace {

constexpr Counter kGathered = 0;

/// Where a member's scratch has the block of `here`, counted from the root. The root's own block is not there: it goes right to
/// its output.
std::uint64_t gather_slot(Rank owner, Rank here) noexcept { return owner == 0 ? here - 1 : here - owner; }

}  // namespace

Needs gather_tree_needs(const Shape& shape, const Tree&) noexcept {
  if (shape.bytes == 0 || shape.ranks == 1) return {};
  return {.scratch = (shape.ranks - 1) * shape.bytes, .counters = 1};
}

// A leaf has its put. Another member first copies its own block. The root copies to its output: its own block, those of
// the members behind it, and those of the members from 0 on.
std::uint32_t gather_tree_length(const Shape& shape, const Tree& tree, Rank position) noexcept {
  if (shape.bytes == 0) return 0;
  if (shape.ranks == 1) return 1;
  const Rank here = relative(position, shape.root, shape.ranks);
  if (here != 0) return tree.children(here) == 0 ? 1 : 2;
  return position == 0 || position + 1 == shape.ranks ? 2 : 3;
}

Step gather_tree_step(const Shape& shape, const Tree& tree, Rank position, std::uint32_t index) noexcept {
  const Rank here = relative(position, shape.root, shape.ranks);
  const std::uint32_t children = tree.children(here);
  if (here == 0) {
    if (index == 0) return copy_of(at(Space::in, 0), at(Space::out, position * shape.pitch), shape.bytes);
    const Rank behind = shape.ranks - position;  // where member 0 is, counted from the root
    const bool last = index == 2 || behind == 1;
    Step copy;
    copy.kind = Step::Kind::copy;
    copy.from = {Space::scratch, gather_slot(0, last ? behind : 1) * shape.bytes, shape.bytes};
    copy.to = {Space::out, last ? 0 : (position + 1) * shape.pitch, shape.pitch};
    copy.bytes = shape.bytes;
    copy.runs = last ? position : behind - 1;
    return index == 1 ? after(copy, kGathered, children) : copy;
  }
  if (children > 0 && index == 0) return copy_of(at(Space::in, 0), at(Space::scratch, 0), shape.bytes);
  const Rank parent = tree.parent(here);
  const Step put =
      put_to(absolute(parent, shape.root, shape.ranks), at(children > 0 ? Space::scratch : Space::in, 0),
             at(Space::scratch, gather_slot(parent, here) * shape.bytes), tree.subtree(here) * shape.bytes,
             kGathered);
  return children > 0 ? after(put, kGathered, children) : put;
}

Cost gather_tree_cost(const Shape& shape, const Tree& tree) noexcept {
  if (shape.ranks == 1 || shape.bytes == 0) return {};
  std::uint64_t blocks = 0;
  for (Rank here = 1; here < shape.ranks; ++here) blocks += tree.subtree(here);
  return {.messages = shape.ranks - 1, .bytes = blocks * shape.bytes, .depth = tree.depth()};
}

}  // namespace aqueduct::coll
