#pragma once

#include "transpose_fft/fft.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace transpose_fft {

/// The size of the whole array. Arrays are stored row after row.
struct Shape {
  std::size_t rows;
  std::size_t columns;
  std::size_t elements() const { return rows * columns; }
};

/// Element (row, column) of the fixed random input.
Complex input_at(const Shape& shape, std::size_t row, std::size_t column);

/// `count` rows of the input from row `first` on.
std::vector<Complex> input_rows(const Shape& shape, std::size_t first, std::size_t count);

/// Checks a whole transform. `found` is its transpose: element (row, column) is found[column * rows + row].
///
/// Compares every element with a serial transform, which uses the same Fft, and some with the sum that defines them,
/// which does not. Returns what is wrong, or an empty text.
std::string what_is_wrong(const Shape& shape, const std::vector<Complex>& found);

}  // namespace transpose_fft
