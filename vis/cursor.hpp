#pragma once

#include <aqueduct/vis_shapes.hpp>

#include <array>
#include <cstdint>

namespace aqueduct::vis {

using aqueduct::detail::Extent;
using aqueduct::detail::Shape;

/// Pieces of one length that follow each other in a shape: piece i of `count` is at `at` + i * `stride`, or, with a
/// list, at `at` + offsets[i].
struct Row {
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
  std::int64_t stride = 0;
  std::uint64_t count = 0;
  const std::int64_t* offsets = nullptr;

  std::uint64_t place(std::uint64_t i) const noexcept {
    return at + static_cast<std::uint64_t>(offsets != nullptr ? offsets[i]
                                                              : static_cast<std::int64_t>(i) * stride);
  }
};

/// Walks over the bytes of a shape in order, one row, or a part of one, at a time.
///
/// Places are addresses or offsets, computed modulo 2^64 without checks: PieceTransfers::check, or the decoder, has
/// verified that they lie in memory or in a segment.
///
/// Lifetime: that of the shape. A copy remembers a position; it has 160 bytes.
class Cursor {
 public:
  Cursor() noexcept = default;
  /// A cursor at the beginning of the shape. `total` is the shape's sum of bytes; `origin` is added to every place.
  Cursor(const Shape& shape, std::uint64_t total, std::uint64_t origin = 0) noexcept;

  /// The number of bytes from here to the end of the shape.
  std::uint64_t remaining() const noexcept { return left_; }
  /// The next pieces of equal length. Inside a piece, only the rest of that piece. Requires: remaining() > 0.
  Row row() noexcept;
  /// The next contiguous bytes: the first piece of the row. Requires: remaining() > 0.
  Piece run() noexcept;
  /// Advances by that many bytes. Requires: at most as many as row() has.
  void step(std::uint64_t bytes) noexcept;
  /// Advances by that many bytes, at most remaining(). Cost: proportional to the dimensions of a strided shape, or to
  /// the pieces of a vector; constant for an indexed shape.
  void skip(std::uint64_t bytes) noexcept;
  /// Adds `by` to every place from now on, modulo 2^64.
  void move(std::uint64_t by) noexcept {
    origin_ += by;
    if (shape_->kind == Shape::Kind::strided) at_ += by;
  }

 private:
  void next_pieces(std::uint64_t pieces) noexcept;

  const Shape* shape_ = nullptr;
  std::uint64_t origin_ = 0;
  std::uint64_t left_ = 0;
  std::uint64_t within_ = 0;  ///< bytes of the current piece that have been passed
  std::uint64_t at_ = 0;      ///< strided: the place of the current piece; lists: its index
  std::array<std::uint64_t, kMostDimensions> index_{};  ///< strided: index of the current piece by dimension
};

}  // namespace aqueduct::vis
