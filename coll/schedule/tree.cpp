#include "coll/schedule/tree.hpp"

#include <algorithm>
#include <bit>

namespace aqueduct::coll {

namespace {

/// A subtree: the positions from `first`, its root, on.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t count = 1;
};

// K-ary: the range without its root is cut at multiples of `width`, counted from the root, so the first piece is
// shorter by one.
//
// A descent does both at each level. With two pieces, the usual radix, neither divides; others divide by 32 bits.
std::uint64_t width_of(const Range& range, std::uint32_t radix) noexcept {
  const auto others = static_cast<std::uint32_t>(range.count - 1);
  return (radix == 2 ? others / 2 : others / radix) + 1;
}
std::uint64_t piece_of(const Range& range, std::uint32_t radix, std::uint64_t width,
                       std::uint64_t position) noexcept {
  const std::uint64_t distance = position - range.first;
  if (radix == 2) return distance >= width ? 1 : 0;
  return static_cast<std::uint32_t>(distance) / static_cast<std::uint32_t>(width);
}
Range cut(const Range& range, std::uint64_t width, std::uint64_t piece) noexcept {
  const std::uint64_t begin = piece == 0 ? 1 : piece * width;
  return {range.first + begin, std::min(range.count, (piece + 1) * width) - begin};
}
std::uint32_t k_ary_children(const Range& range, std::uint32_t radix) noexcept {
  if (range.count == 1) return 0;
  const std::uint64_t width = width_of(range, radix);
  // With a width of 1 the first piece is empty.
  return static_cast<std::uint32_t>((range.count + width - 1) / width) - (width == 1 ? 1 : 0);
}
/// The child range with the number `slot` in rising order of positions.
Range k_ary_child(const Range& range, std::uint32_t radix, std::uint64_t slot) noexcept {
  const std::uint64_t width = width_of(range, radix);
  return cut(range, width, width == 1 ? slot + 1 : slot);
}
/// The slot of the child range that contains `position`, which is in the range but not its root.
std::uint64_t k_ary_slot(const Range& range, std::uint32_t radix, std::uint64_t position) noexcept {
  const std::uint64_t width = width_of(range, radix);
  const std::uint64_t piece = piece_of(range, radix, width, position);
  return width == 1 ? piece - 1 : piece;
}
/// Descends from the whole tree to the range of `position`. `parent` becomes the range above it.
Range k_ary_range(const Tree& tree, std::uint64_t position, Range& parent) noexcept {
  Range range{0, tree.ranks};
  parent = range;
  while (range.first != position) {
    parent = range;
    const std::uint64_t width = width_of(range, tree.radix);
    range = cut(range, width, piece_of(range, tree.radix, width, position));
  }
  return range;
}

/// The weight of the lowest digit of `position` that is not 0: its subtree has at most so many positions. For position
/// 0 it is the lowest power of the radix that is not below `ranks`.
std::uint64_t k_nomial_weight(const Tree& tree, std::uint64_t position) noexcept {
  std::uint64_t weight = 1;
  if (position == 0) {
    while (weight < tree.ranks) weight *= tree.radix;
    return weight;
  }
  if (const std::uint64_t radix = tree.radix; (radix & (radix - 1)) == 0) {
    const int digit = std::countr_zero(radix);  // bits of it
    return weight << (std::countr_zero(position) / digit * digit);
  }
  while (position % (weight * tree.radix) == 0) weight *= tree.radix;
  return weight;
}

/// The lowest digit of a position in a k-nomial tree: with another one than 0 the position is a leaf, as most are.
Rank lowest_digit(const Tree& tree, Rank position) noexcept {
  const std::uint32_t radix = tree.radix;
  return (radix & (radix - 1)) == 0 ? position & (radix - 1) : position % radix;
}

/// A position of a fork tree by its coordinates.
struct Forked {
  std::uint64_t row;
  std::uint64_t plane;
  std::uint64_t in_row;    ///< its place in its row
  std::uint64_t in_plane;  ///< and that in its plane

  Forked(const Tree& tree, std::uint64_t position) noexcept
      : row(tree.row), plane(row * tree.rows), in_row(position % row), in_plane(position % plane) {}
  /// How far behind its parent it is.
  std::uint64_t back() const noexcept { return in_row != 0 ? 1 : in_plane != 0 ? row : plane; }
  bool begins_row() const noexcept { return in_row == 0; }
  bool begins_plane() const noexcept { return in_plane == 0; }
};

/// Visits the distances from a position to its children, in rising order.
template <class Visit>
void for_each_fork(const Tree& tree, std::uint64_t position, Visit visit) noexcept {
  const Forked here(tree, position);
  if (here.in_row + 1 < here.row && position + 1 < tree.ranks) visit(std::uint64_t{1});
  if (here.begins_row() && here.in_plane + here.row < here.plane && position + here.row < tree.ranks)
    visit(here.row);
  if (here.begins_plane() && position + here.plane < tree.ranks) visit(here.plane);
}
std::uint32_t fork_children(const Tree& tree, std::uint64_t position) noexcept {
  std::uint32_t count = 0;
  for_each_fork(tree, position, [&](std::uint64_t) { ++count; });
  return count;
}
/// Of `count` positions on a chain of pieces of `piece` each, the last one shorter: the most edges from the first position,
/// if a whole piece has `inside` of them below its first position and the last one `last`.
std::uint64_t fork_depth(std::uint64_t count, std::uint64_t piece, std::uint64_t inside,
                         std::uint64_t last) noexcept {
  const std::uint64_t pieces = (count + piece - 1) / piece;
  return std::max(pieces < 2 ? 0 : pieces - 2 + inside, pieces - 1 + last);
}

bool is_fork(const Tree& tree) noexcept { return tree.kind == Tree::Kind::fork; }
bool is_k_ary(const Tree& tree) noexcept { return tree.kind == Tree::Kind::k_ary && tree.radix > 1; }
bool is_chain(const Tree& tree) noexcept { return !is_fork(tree) && tree.radix <= 1; }

}  // namespace

Rank Tree::parent(Rank position) const noexcept {
  if (is_chain(*this)) return position - 1;
  if (is_fork(*this)) return static_cast<Rank>(position - Forked(*this, position).back());
  if (is_k_ary(*this)) {
    Range above;
    k_ary_range(*this, position, above);
    return static_cast<Rank>(above.first);
  }
  if (const Rank digit = lowest_digit(*this, position); digit != 0) return position - digit;
  const std::uint64_t weight = k_nomial_weight(*this, position);
  if ((radix & (radix - 1)) == 0) return static_cast<Rank>(position & ~((radix - 1) * weight));
  return static_cast<Rank>(position - position / weight % radix * weight);
}

Rank Tree::subtree(Rank position) const noexcept {
  if (is_chain(*this)) return ranks - position;
  if (is_fork(*this)) {
    const Forked here(*this, position);
    if (here.begins_plane()) return ranks - position;
    const std::uint64_t left = here.begins_row() ? here.plane - here.in_plane : here.row - here.in_row;
    return static_cast<Rank>(std::min<std::uint64_t>(left, ranks - position));
  }
  if (is_k_ary(*this)) {
    Range above;
    return static_cast<Rank>(k_ary_range(*this, position, above).count);
  }
  return static_cast<Rank>(std::min<std::uint64_t>(k_nomial_weight(*this, position), ranks - position));
}

std::uint32_t Tree::children(Rank position) const noexcept {
  if (is_chain(*this)) return position + 1 < ranks ? 1 : 0;
  if (is_fork(*this)) return fork_children(*this, position);
  if (is_k_ary(*this)) {
    Range above;
    return k_ary_children(k_ary_range(*this, position, above), radix);
  }
  if (lowest_digit(*this, position) != 0) return 0;
  std::uint32_t count = 0;
  const std::uint64_t top = k_nomial_weight(*this, position);
  if (position + top <= ranks) {
    // No child is missing.
    for (std::uint64_t weight = 1; weight < top; weight *= radix) count += radix - 1;
    return count;
  }
  for (std::uint64_t weight = 1; weight < top && position + weight < ranks; weight *= radix) {
    const std::uint64_t room = (ranks - 1 - position) / weight;
    count += static_cast<std::uint32_t>(std::min<std::uint64_t>(room, radix - 1));
  }
  return count;
}

Rank Tree::child(Rank position, std::uint32_t index) const noexcept {
  if (is_chain(*this)) return position + 1;
  if (is_k_ary(*this)) {
    Range above;
    const Range here = k_ary_range(*this, position, above);
    return static_cast<Rank>(k_ary_child(here, radix, k_ary_children(here, radix) - 1 - index).first);
  }
  const std::uint32_t rising = children(position) - 1 - index;
  if (is_fork(*this)) {
    std::uint32_t slot = 0;
    Rank found = position;
    for_each_fork(*this, position, [&](std::uint64_t distance) {
      if (slot++ == rising) found = static_cast<Rank>(position + distance);
    });
    return found;
  }
  // All weights but the highest have radix - 1 children.
  std::uint64_t weight = 1;
  std::uint32_t slot = rising;
  for (; slot >= radix - 1; slot -= radix - 1) weight *= radix;
  return static_cast<Rank>(position + (slot + 1) * weight);
}

std::uint32_t Tree::children(Rank position, Rank subtree) const noexcept {
  return is_k_ary(*this) ? k_ary_children({position, subtree}, radix) : children(position);
}

Rank Tree::child(Rank position, Rank subtree, std::uint32_t index) const noexcept {
  if (!is_k_ary(*this)) return child(position, index);
  const Range here{position, subtree};
  return static_cast<Rank>(k_ary_child(here, radix, k_ary_children(here, radix) - 1 - index).first);
}

void Tree::subtrees(std::span<Rank> sizes) const noexcept {
  sizes[0] = ranks;
  for (Rank position = 0; position < ranks; ++position) {
    // A parent stands before its children, so the size is known.
    const Range here{position, sizes[position]};
    const std::uint32_t count = k_ary_children(here, radix);
    for (std::uint32_t slot = 0; slot < count; ++slot) {
      const Range below = k_ary_child(here, radix, slot);
      sizes[below.first] = static_cast<Rank>(below.count);
    }
  }
}

std::uint32_t Tree::index_of(Rank position) const noexcept {
  if (is_chain(*this)) return 0;
  if (is_fork(*this)) {
    const std::uint64_t mine = Forked(*this, position).back();
    std::uint32_t after = 0;
    for_each_fork(*this, position - mine, [&](std::uint64_t distance) { after += distance > mine ? 1 : 0; });
    return after;
  }
  if (is_k_ary(*this)) {
    Range above;
    k_ary_range(*this, position, above);
    const std::uint32_t siblings = k_ary_children(above, radix);
    return siblings - 1 - static_cast<std::uint32_t>(k_ary_slot(above, radix, position));
  }
  std::uint64_t weight = k_nomial_weight(*this, position);
  auto slot = static_cast<std::uint32_t>(position / weight % radix - 1);
  for (; weight > 1; weight /= radix) slot += radix - 1;
  return children(parent(position)) - 1 - slot;
}

std::uint32_t Tree::depth() const noexcept {
  if (is_chain(*this)) return ranks - 1;
  if (is_fork(*this)) {
    const std::uint64_t plane = std::uint64_t{row} * rows;
    const auto in_plane = [&](std::uint64_t count) {
      return fork_depth(count, row, row - 1, (count - 1) % row);
    };
    return static_cast<std::uint32_t>(
        fork_depth(ranks, plane, in_plane(plane), in_plane((ranks - 1) % plane + 1)));
  }
  std::uint32_t most = 0;
  if (is_k_ary(*this)) {
    // All child ranges but the first and the last have the same length, so a longest path goes through the longest.
    Range range{0, ranks};
    for (; range.count > 1; ++most) {
      Range longest = k_ary_child(range, radix, 0);
      if (k_ary_children(range, radix) > 1) {
        const Range second = k_ary_child(range, radix, 1);
        if (second.count > longest.count) longest = second;
      }
      range = longest;
    }
    return most;
  }
  // The deepest position has the most digits that are not 0.
  std::uint32_t digits = 0;
  std::uint32_t sum = 0;
  for (std::uint64_t rest = ranks - 1; rest > 0; rest /= radix) {
    ++digits;
    sum += rest % radix != 0 ? 1 : 0;
  }
  // Either `ranks - 1` itself, or a smaller number: a digit lowered by one, and all below it not 0.
  most = sum;
  std::uint32_t above = 0;
  std::uint32_t left = digits;
  std::uint64_t weight = 1;
  for (std::uint32_t i = 1; i < digits; ++i) weight *= radix;
  for (std::uint64_t rest = ranks - 1; left > 0; --left, weight /= radix) {
    const std::uint64_t digit = rest / weight;
    if (digit > 0) most = std::max(most, above + (digit > 1 ? 1 : 0) + (left - 1));
    above += digit > 0 ? 1 : 0;
    rest %= weight;
    if (weight == 1) break;
  }
  return most;
}

}  // namespace aqueduct::coll
