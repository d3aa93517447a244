#include "kernels/copy_piece.hpp"
#include "kernels/row_kernel.hpp"
#include "vis/kernels.hpp"
#include "vis/piece_transfers.hpp"

#include <algorithm>
#include <optional>
#include <utility>

// The short way of the plan "direct", for strided shapes of one or two dimensions on mapped memory: one walk over the two
// shapes both checks them and finds the loops. Whatever it does not know, and every error, it leaves to the long way.

namespace aqueduct::vis {
namespace {

// Sums of a few numbers below this limit do not overflow. The long way refuses shapes that reach 2^62.
constexpr std::int64_t kMostReach = std::int64_t{1} << 60;

/// One side of pieces in rows. Units: bytes.
struct GridSide {
  std::int64_t piece_stride;
  std::int64_t row_stride;
  std::int64_t lowest = 0;   ///< of all bytes, relative to the first one
  std::int64_t highest = 0;  ///< the end
};

/// The loops over both sides: rows of pieces.
struct Grid {
  std::int64_t piece;
  std::int64_t pieces;
  std::int64_t rows;
  std::int64_t total;
};

bool has_few_loops(const Shape& shape) noexcept {
  return shape.kind == Shape::Kind::strided && shape.dimensions <= 2 && shape.problem == ErrorCode::ok;
}

bool times(std::int64_t a, std::int64_t b, std::int64_t& product) noexcept {
  return !__builtin_mul_overflow(a, b, &product) && product < kMostReach && product > -kMostReach;
}

/// The loops that a shape has; nothing if it has none, or if it is empty or too large.
std::optional<Grid> grid_of(const Shape& shape) noexcept {
  if (shape.dimensions == 0) return std::nullopt;
  const auto count = [](const aqueduct::detail::Extent& d) { return static_cast<std::int64_t>(d.count); };
  Grid grid{static_cast<std::int64_t>(shape.bytes), count(shape.dims[shape.dimensions - 1]),
            shape.dimensions == 2 ? count(shape.dims[0]) : 1, 0};
  if (grid.piece <= 0 || grid.pieces <= 0 || grid.rows <= 0 || !times(grid.piece, grid.pieces, grid.total) ||
      !times(grid.total, grid.rows, grid.total))
    return std::nullopt;
  return grid;
}

/// The side that has those loops: the shape that they are from, one of equal counts, or one piece of as many bytes.
std::optional<GridSide> side_of(const Shape& shape, const Grid& grid) noexcept {
  GridSide side{grid.piece, grid.piece * grid.pieces};
  if (shape.dimensions == 0) {
    if (shape.bytes != static_cast<std::uint64_t>(grid.total)) return std::nullopt;
    side.highest = grid.total;
    return side;
  }
  const auto& inner = shape.dims[shape.dimensions - 1];
  const bool two = shape.dimensions == 2;
  if (shape.bytes != static_cast<std::uint64_t>(grid.piece) ||
      inner.count != static_cast<std::uint64_t>(grid.pieces) ||
      (two ? shape.dims[0].count : 1) != static_cast<std::uint64_t>(grid.rows))
    return std::nullopt;
  side.piece_stride = inner.stride;
  side.row_stride = two ? shape.dims[0].stride : 0;
  std::int64_t along = 0;
  std::int64_t across = 0;
  if (!times(side.piece_stride, grid.pieces - 1, along) || !times(side.row_stride, grid.rows - 1, across))
    return std::nullopt;
  side.lowest = std::min<std::int64_t>(along, 0) + std::min<std::int64_t>(across, 0);
  side.highest = std::max<std::int64_t>(along, 0) + std::max<std::int64_t>(across, 0) + grid.piece;
  return side;
}

void copy_grid(Grid grid, GridSide out, std::byte* to, GridSide in, const std::byte* from) noexcept {
  if (out.piece_stride == grid.piece && in.piece_stride == grid.piece) {  // a row is contiguous on both sides
    grid.piece *= grid.pieces;
    grid.pieces = std::exchange(grid.rows, 1);
    out.piece_stride = out.row_stride;
    in.piece_stride = in.row_stride;
  }
  const auto bytes = static_cast<std::uint64_t>(grid.piece);
  const auto count = static_cast<std::uint64_t>(grid.pieces);
  const auto by_rows = [&](const auto row) {
    for (std::int64_t j = grid.rows; j != 0; --j, to += out.row_stride, from += in.row_stride) row();
  };
  if (const kernels::RowKernel kernel = kernels::row_kernel(
          {bytes, out.piece_stride, in.piece_stride, count, static_cast<std::uint64_t>(grid.total)},
          Processor::here()))
    return by_rows([&] { kernel(to, out.piece_stride, from, in.piece_stride, count); });
  kernels::with_piece(bytes, [&](const auto copy) {
    by_rows([&] { kernels::copy_row(copy, to, out.piece_stride, from, in.piece_stride, count); });
  });
}

}  // namespace

// False: nothing has happened.
bool PieceTransfers::copy_regular(const Request& request) noexcept {
  const Shape& there = request.there;
  const Shape& here = request.here;
  if (request.what == What::accumulate || request.signal != nullptr ||
      request.options.source_event != nullptr || !has_few_loops(there) || !has_few_loops(here))
    return false;
  if (forced_ != kPlans && forced_ != static_cast<std::uint64_t>(Plan::direct)) return false;
  const auto grid = grid_of(there.dimensions >= here.dimensions ? there : here);
  if (!grid) return false;
  const auto far = side_of(there, *grid);
  const auto own = side_of(here, *grid);
  if (!far || !own) return false;
  // Loops whose inner one has the larger stride are slow: the long way exchanges them.
  const auto in_order = [&](const GridSide& side) {
    return grid->rows == 1 || std::abs(side.piece_stride) <= std::abs(side.row_stride);
  };
  if (!in_order(*far) || !in_order(*own)) return false;
  const std::uint64_t offset = request.base.offset() + there.base;
  const std::uint64_t local = request.here_base + here.base;
  if (offset >= static_cast<std::uint64_t>(kMostReach) || local >= static_cast<std::uint64_t>(kMostReach) ||
      static_cast<std::int64_t>(offset) + far->lowest < 0 ||
      static_cast<std::int64_t>(local) + own->lowest <= 0)  // null, which the long way refuses
    return false;
  // A window that a fence veils is not found.
  std::byte* const lowest = state_.segments.mapped(
      {request.base.rank(), offset + static_cast<std::uint64_t>(far->lowest), request.base.segment()},
      static_cast<std::uint64_t>(far->highest - far->lowest));
  if (lowest == nullptr) return false;
#ifdef AQUEDUCT_CHECKED
  if (request.what == What::get ? overlaps(here, survey(here, request.here_base))
                                : overlaps(there, survey(there, request.base.offset())))
    return false;
#endif
  ++state_.statistics.vis_direct;
  std::byte* const far_at = lowest - far->lowest;
  auto* const own_at = reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(local));
  if (request.what == What::get) {
    copy_grid(*grid, *own, own_at, *far, far_at);
  } else {
    copy_grid(*grid, *far, far_at, *own, own_at);
  }
  return true;
}

}  // namespace aqueduct::vis
