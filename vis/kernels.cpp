#include "vis/kernels.hpp"

#include "kernels/copy_piece.hpp"
#include "kernels/row_kernel.hpp"

#include <algorithm>

namespace aqueduct::vis {
namespace {

std::byte* address(std::uint64_t place) noexcept { return reinterpret_cast<std::byte*>(place); }

// The address of piece i, one type for each kind of row, so that the copy loops have no branch.
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

/// The first piece of a row, as a row of shorter pieces of `bytes` bytes.
Row cut(const Row& row, std::uint64_t bytes) noexcept {
  return {row.place(0), bytes, static_cast<std::int64_t>(bytes), row.bytes / bytes};
}

/// Copies piece by piece, for rows of which at least one is given by a list of offsets.
template <class Copy, class Out, class In>
void copy_listed(const Copy copy, const Out out, const In in, std::uint64_t count) noexcept {
  std::uint64_t i = 0;
  if constexpr (Copy::kShort) {
    for (; i + 4 <= count; i += 4) {
      copy(out(i), in(i));
      copy(out(i + 1), in(i + 1));
      copy(out(i + 2), in(i + 2));
      copy(out(i + 3), in(i + 3));
    }
  }
  for (; i < count; ++i) copy(out(i), in(i));
}

/// Runs all loops but the innermost; `row` copies a whole row of the innermost one.
template <class CopyRow>
void run_loops(const Nest& nest, std::byte* to, const std::byte* from, const CopyRow row) noexcept {
  const Nest::Loop outer = nest.depth > 1 ? nest.loops[nest.depth - 2] : Nest::Loop{1, 0, 0};
  std::array<std::uint64_t, kMostDimensions * 2> index{};
  for (;;) {
    std::byte* out = to;
    const std::byte* in = from;
    for (std::uint64_t j = outer.count; j != 0; --j, out += outer.to, in += outer.from) row(out, in);
    std::size_t d = nest.depth > 2 ? nest.depth - 2 : 0;
    for (; d-- > 0;) {  // the loops around these two: advance the innermost of them that has a next iteration
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

void copy_rows(const Row& to, const Row& from, std::uint64_t count, const Processor& has) noexcept {
  const std::uint64_t bytes = from.bytes;
  if (to.offsets == nullptr && from.offsets == nullptr) {
    if (const kernels::RowKernel kernel =
            kernels::row_kernel({bytes, to.stride, from.stride, count, count * bytes}, has)) {
      return kernel(address(to.at), to.stride, address(from.at), from.stride, count);
    }
    return kernels::with_piece(bytes, [&](const auto copy) {
      kernels::copy_row(copy, address(to.at), to.stride, address(from.at), from.stride, count);
    });
  }
  kernels::with_piece(bytes, [&](const auto copy) {
    with_places(to, [&](const auto out) {
      with_places(from, [&](const auto in) { copy_listed(copy, out, in, count); });
    });
  });
}

void copy_between(Cursor& to, Cursor& from, std::uint64_t bytes) noexcept {
  while (bytes != 0) {
    Row out = to.row();
    Row in = from.row();
    if (out.bytes != in.bytes) {  // cut the longer pieces to the length of the shorter ones
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
      if (count == 0) {  // the copy ends inside the first piece
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

void run_nest(const Nest& nest, std::byte* to, const std::byte* from, const Processor& has) noexcept {
  if (nest.depth == 0) return kernels::AnyPiece{static_cast<std::size_t>(nest.bytes)}(to, from);
  const Nest::Loop inner = nest.loops[nest.depth - 1];
  std::uint64_t total = nest.bytes;
  for (std::uint32_t d = 0; d < nest.depth; ++d) total *= nest.loops[d].count;
  if (const kernels::RowKernel kernel =
          kernels::row_kernel({nest.bytes, inner.to, inner.from, inner.count, total}, has)) {
    return run_loops(nest, to, from, [=](std::byte* out, const std::byte* in) {
      kernel(out, inner.to, in, inner.from, inner.count);
    });
  }
  kernels::with_piece(nest.bytes, [&](const auto copy) {
    run_loops(nest, to, from, [=](std::byte* out, const std::byte* in) {
      kernels::copy_row(copy, out, inner.to, in, inner.from, inner.count);
    });
  });
}

}  // namespace aqueduct::vis
