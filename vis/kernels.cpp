#include "vis/kernels.hpp"

#include "vis/copy_piece.hpp"

#include <algorithm>

namespace aqueduct::vis {
namespace {

std::byte* address(std::uint64_t place) noexcept { return reinterpret_cast<std::byte*>(place); }

/// Where a row's pieces are, one kind of row at a time, so that the loops have no branch in them.
struct Regular {
  std::uint64_t at;
  std::int64_t stride;
  std::byte* operator()(std::uint64_t i) const noexcept {
    return address(at + i * static_cast<std::uint64_t>(stride));
  }
};
struct Listed {
  std::uint64_t at;
  const std::int64_t* offsets;
  std::byte* operator()(std::uint64_t i) const noexcept {
    return address(at + static_cast<std::uint64_t>(offsets[i]));
  }
};

template <class F>
void with_places(const Row& row, F&& with) noexcept {
  if (row.offsets != nullptr) return with(Listed{row.at, row.offsets});
  with(Regular{row.at, row.stride});
}

/// The first `count` pieces of `bytes` in a contiguous stretch.
Row cut(const Row& row, std::uint64_t bytes) noexcept {
  return {row.place(0), bytes, static_cast<std::int64_t>(bytes), row.bytes / bytes};
}

template <class Copy>
void run_loops(const Nest& nest, std::byte* to, const std::byte* from, const Copy copy) noexcept {
  if (nest.depth == 0) return copy(to, from);
  const Nest::Loop inner = nest.loops[nest.depth - 1];
  const Nest::Loop outer = nest.depth > 1 ? nest.loops[nest.depth - 2] : Nest::Loop{1, 0, 0};
  std::array<std::uint64_t, kMostDimensions * 2> index{};
  for (;;) {
    std::byte* out_row = to;
    const std::byte* in_row = from;
    for (std::uint64_t j = outer.count; j != 0; --j, out_row += outer.to, in_row += outer.from) {
      std::byte* out = out_row;
      const std::byte* in = in_row;
      for (std::uint64_t i = inner.count; i != 0; --i, out += inner.to, in += inner.from) copy(out, in);
    }
    std::size_t d = nest.depth > 2 ? nest.depth - 2 : 0;
    for (; d-- > 0;) {  // the loops around these two: on to the next of the innermost that has one
      const Nest::Loop& loop = nest.loops[d];
      to += loop.to;
      from += loop.from;
      if (++index[d] < loop.count) break;
      to -= loop.to * static_cast<std::int64_t>(loop.count);
      from -= loop.from * static_cast<std::int64_t>(loop.count);
      index[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

}  // namespace

void copy_rows(const Row& to, const Row& from, std::uint64_t count) noexcept {
  with_piece(from.bytes, [&](const auto copy) {
    with_places(to, [&](const auto out) {
      with_places(from, [&](const auto in) {
        for (std::uint64_t i = 0; i < count; ++i) copy(out(i), in(i));
      });
    });
  });
}

void copy_between(Cursor& to, Cursor& from, std::uint64_t bytes) noexcept {
  while (bytes != 0) {
    Row out = to.row();
    Row in = from.row();
    if (out.bytes != in.bytes) {  // cut the longer one at the other's ends
      if (out.bytes > in.bytes) {
        out = cut(out, in.bytes);
      } else {
        in = cut(in, out.bytes);
      }
    }
    std::uint64_t count = std::min(out.count, in.count);
    std::uint64_t moved = count * in.bytes;
    if (moved > bytes) {
      count = bytes / in.bytes;
      moved = count * in.bytes;
      if (count == 0) {  // the end is inside the first piece
        moved = bytes;
        out.bytes = in.bytes = bytes;
        count = 1;
      }
    }
    copy_rows(out, in, count);
    to.step(moved);
    from.step(moved);
    bytes -= moved;
  }
}

void run_nest(const Nest& nest, std::byte* to, const std::byte* from) noexcept {
  with_piece(nest.bytes, [&](const auto copy) { run_loops(nest, to, from, copy); });
}

}  // namespace aqueduct::vis
