#pragma once

#include <aqueduct/vis_shapes.hpp>

#include <array>
#include <cstdint>

namespace aqueduct::vis {

using aqueduct::detail::Extent;
using aqueduct::detail::Shape;

/// Pieces of one length that come next: piece i of `count` is at `at` + i * `stride`, or at `at` + offsets[i].
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

/// Walks over a shape's bytes in order, a row or a part of one at a time. What it says of a place is
/// modulo 2^64: `check` has found beforehand that the shape's are in memory, or in a segment.
///
/// Lifetime: the shape's. Copied to remember a position: 160 bytes.
class Cursor {
 public:
  Cursor() noexcept = default;
  /// At the beginning. `total` is the shape's sum of bytes; `origin` is added to every place.
  Cursor(const Shape& shape, std::uint64_t total, std::uint64_t origin = 0) noexcept;

  std::uint64_t left() const noexcept { return left_; }
  /// The equal pieces that come next, the first of them perhaps the rest of one. Requires: left() > 0.
  Row row() noexcept;
  /// What is contiguous from here: the first of the row. Requires: left() > 0.
  Piece run() noexcept;
  /// Steps over that many bytes of the row. Requires: no more than row() has.
  void step(std::uint64_t bytes) noexcept;
  /// Steps over that many bytes of the shape, no more than are left. Cost: of a strided shape, its dimensions.
  void skip(std::uint64_t bytes) noexcept;
  /// Adds to every place from now on, modulo 2^64.
  void move(std::uint64_t by) noexcept {
    origin_ += by;
    if (shape_->kind == Shape::Kind::strided) at_ += by;
  }

 private:
  void next_pieces(std::uint64_t pieces) noexcept;

  const Shape* shape_ = nullptr;
  std::uint64_t origin_ = 0;
  std::uint64_t left_ = 0;
  std::uint64_t within_ = 0;  ///< of the present piece, already behind
  std::uint64_t at_ = 0;      ///< strided: where the present piece begins; lists: its index
  std::array<std::uint64_t, kMostDimensions> index_{};  ///< strided: of the present piece, by dimension
};

}  // namespace aqueduct::vis
