#include "vis/normalise.hpp"

#include <algorithm>
#include <cstdlib>

namespace aqueduct::vis {

Shape simplified(const Shape& shape) noexcept {
  if (shape.kind != Shape::Kind::strided) {
    if (shape.count != 1) return shape;
    Shape one;
    const Piece piece = shape.kind == Shape::Kind::vector
                            ? *static_cast<const Piece*>(shape.list)
                            : Piece{*static_cast<const std::int64_t*>(shape.list), shape.bytes};
    one.base = shape.base + static_cast<std::uint64_t>(piece.offset);
    one.bytes = piece.bytes;
    return one;
  }
  Shape out;
  out.base = shape.base;
  out.bytes = shape.bytes;
  // From the innermost dimension outwards; `out.dims` is in reverse order until the end.
  std::uint32_t n = 0;
  for (std::size_t i = shape.dimensions; i-- > 0;) {
    const Extent& d = shape.dims[i];
    if (d.count == 1) continue;
    if (n == 0 && d.stride == static_cast<std::int64_t>(out.bytes)) {
      out.bytes *= d.count;
    } else if (n != 0 &&
               d.stride == out.dims[n - 1].stride * static_cast<std::int64_t>(out.dims[n - 1].count)) {
      out.dims[n - 1].count *= d.count;
    } else {
      out.dims[n++] = d;
    }
  }
  out.dimensions = n;
  std::reverse(out.dims.begin(), out.dims.begin() + n);
  return out;
}

namespace {

/// Gives access to the pieces of an indexed or vector shape alike.
struct ListOf {
  const Shape& shape;
  std::int64_t offset(std::uint64_t i) const noexcept {
    return shape.kind == Shape::Kind::vector ? static_cast<const Piece*>(shape.list)[i].offset
                                             : static_cast<const std::int64_t*>(shape.list)[i];
  }
  std::uint64_t bytes(std::uint64_t i) const noexcept {
    return shape.kind == Shape::Kind::vector ? static_cast<const Piece*>(shape.list)[i].bytes : shape.bytes;
  }
};

}  // namespace

std::optional<Shape> strides_in(const Shape& list, const Survey& survey) noexcept {
  const std::uint64_t n = list.count;
  if (list.kind == Shape::Kind::strided || n < 2 || survey.pieces != n) return std::nullopt;
  const ListOf at{list};
  const std::int64_t first = at.offset(0);
  Shape found;
  found.base = list.base + static_cast<std::uint64_t>(first);
  found.bytes = at.bytes(0);
  // Guess the length of the innermost row, then the number of rows, and so on. Each level looks only at the first
  // pieces; the whole guess is compared with the list at the end.
  std::uint64_t block = 1;
  std::array<Extent, kMostDimensions> inner;  // the innermost first
  std::uint32_t depth = 0;
  while (block < n) {
    if (depth == kMostDimensions) return std::nullopt;
    const std::int64_t stride = at.offset(block) - first;
    std::uint64_t count = 1;
    while (count * block < n && at.offset(count * block) - first == static_cast<std::int64_t>(count) * stride)
      ++count;
    inner[depth++] = {count, stride};
    block *= count;
    if (n % block != 0) return std::nullopt;
  }
  found.dimensions = depth;
  for (std::uint32_t i = 0; i < depth; ++i) found.dims[depth - 1 - i] = inner[i];
  Cursor cursor(found, found.bytes * n);
  const auto base = static_cast<std::int64_t>(list.base);
  for (std::uint64_t i = 0; i < n;) {
    const Row row = cursor.row();
    for (std::uint64_t k = 0; k < row.count; ++k, ++i) {
      if (static_cast<std::int64_t>(row.place(k)) != base + at.offset(i) || at.bytes(i) != found.bytes)
        return std::nullopt;
    }
    cursor.step(row.count * row.bytes);
  }
  return found;
}

namespace {

/// Sorts loops by stride, the smallest first. Insertion sort, because there are few loops, mostly in order, and
/// std::stable_sort allocates.
void sort_by_stride(Nest::Loop* begin, const Nest::Loop* end) noexcept {
  const auto reach = [](const Nest::Loop& loop) { return std::abs(loop.to) + std::abs(loop.from); };
  for (Nest::Loop* next = begin; next != end; ++next) {
    const Nest::Loop moved = *next;
    Nest::Loop* place = next;
    for (; place != begin && reach(moved) < reach(place[-1]); --place) *place = place[-1];
    *place = moved;
  }
}

}  // namespace

std::optional<Nest> nest(const Shape& to, const Shape& from) noexcept {
  if (to.kind != Shape::Kind::strided || from.kind != Shape::Kind::strided) return std::nullopt;
  // Each side's levels, from the bytes of a piece (level 0) to its outermost dimension. Each round makes one loop, of
  // the smaller of the two counts left, if it divides the larger one.
  struct Side {
    const Shape& shape;
    std::uint64_t left;
    std::int64_t stride = 1;
    std::uint32_t level = 0;
    void next() noexcept {
      left = 1;
      while (left == 1 && level < shape.dimensions) {
        const Extent& d = shape.dims[shape.dimensions - 1 - level++];
        left = d.count;
        stride = d.stride;
      }
    }
  };
  Side a{to, to.bytes};
  Side b{from, from.bytes};
  std::optional<Nest> result(std::in_place);
  Nest& made = *result;
  std::array<Nest::Loop, kMostDimensions * 2 + 2> inner;
  std::uint32_t n = 0;
  for (;;) {
    if (a.left == 1) a.next();
    if (b.left == 1) b.next();
    if (a.left == 1 || b.left == 1) break;
    if (a.left == b.left) {  // nearly always; a division takes as long as copying a piece
      inner[n++] = {a.left, a.stride, b.stride};
      a.left = b.left = 1;
      continue;
    }
    const std::uint64_t count = std::min(a.left, b.left);
    if (std::max(a.left, b.left) % count != 0) return std::nullopt;
    inner[n++] = {count, a.stride, b.stride};
    for (Side* side : {&a, &b}) {
      side->left /= count;
      side->stride *= static_cast<std::int64_t>(count);
    }
  }
  if (a.left != b.left) return std::nullopt;
  // The innermost loops that are contiguous on both sides are the piece.
  made.bytes = 1;
  std::uint32_t first = 0;
  for (; first < n && inner[first].to == static_cast<std::int64_t>(made.bytes) &&
         inner[first].from == inner[first].to;
       ++first) {
    made.bytes *= inner[first].count;
  }
  // The others, in the order of memory; loops that continue one another on both sides are merged.
  sort_by_stride(inner.data() + first, inner.data() + n);
  for (; first < n; ++first) {
    const Nest::Loop& loop = inner[first];
    const auto whole = static_cast<std::int64_t>(made.bytes);
    if (made.depth == 0 && loop.to == whole && loop.from == whole) {
      made.bytes *= loop.count;
      continue;
    }
    if (made.depth != 0) {
      Nest::Loop& below = made.loops[made.depth - 1];
      const auto count = static_cast<std::int64_t>(below.count);
      if (loop.to == below.to * count && loop.from == below.from * count) {
        below.count *= loop.count;
        continue;
      }
    }
    if (made.depth == made.loops.size()) return std::nullopt;
    made.loops[made.depth++] = loop;
  }
  std::reverse(made.loops.begin(), made.loops.begin() + made.depth);
  return result;
}

}  // namespace aqueduct::vis
