#pragma once

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "transpose_fft/array.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace transpose_fft {

/// Some of the rows, or of the columns.
struct Share {
  std::size_t first;
  std::size_t count;
};

/// Brings an array from ranks that have rows to ranks that have columns, by one all-to-all: each rank sends to each
/// other one the block where its rows cross the other's columns.
///
/// An all-to-all sends blocks of equal size, so every rank gets ceil(lines / ranks) lines. If that does not divide
/// evenly, the last ranks have fewer, or none, and their blocks are padded.
///
/// The constructor and `run` are collective: all ranks call them in the same order.
class Transpose {
 public:
  Transpose(aqueduct::Endpoint& ep, const Shape& shape);
  Transpose(const Transpose&) = delete;  // the plan names the buffers
  Transpose& operator=(const Transpose&) = delete;

  Share rows() const { return rows_; }
  Share columns() const { return columns_; }
  /// The number of columns that every rank has room for: more than its columns().count if there is padding.
  std::size_t columns_with_padding() const { return columns_each_; }

  /// Shape:   `rows` are my rows, one after the other; `columns` becomes my columns, and has room for padding.
  /// Returns: the seconds of the all-to-all, without those of arranging the elements.
  double run(std::span<const Complex> rows, std::span<Complex> columns);

 private:
  Share rows_of(aqueduct::Rank rank) const;
  Share columns_of(aqueduct::Rank rank) const;
  /// Of a rank's block in `out_` and `in_`: column after column, each of `rows_each_` elements.
  std::size_t block(aqueduct::Rank rank) const { return rank * rows_each_ * columns_each_; }

  aqueduct::Rank ranks_;
  Shape shape_;
  std::size_t rows_each_;
  std::size_t columns_each_;
  Share rows_;
  Share columns_;
  std::vector<Complex> out_;
  std::vector<Complex> in_;
  aqueduct::CollPlan exchange_;
};

}  // namespace transpose_fft
