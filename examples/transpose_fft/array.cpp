#include "transpose_fft/array.hpp"

#include "common/mixed.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <utility>

namespace transpose_fft {

namespace {

/// From -1 to 1.
double random_number(std::uint64_t index) {
  return std::ldexp(static_cast<double>(example::mixed(index) >> 11), -52) - 1;
}

/// How much two computations may differ by rounding, per unit of the result's usual magnitude, sqrt(elements). Chosen:
/// the error grows like the square root of the terms, so it stays under 1e-12, and a wrong element differs by about 1.
constexpr double kTolerance = 1e-11;

std::vector<Complex> transform_alone(const Shape& shape) {
  std::vector<Complex> array = input_rows(shape, 0, shape.rows);
  Fft along_rows(shape.columns);
  for (std::size_t row = 0; row < shape.rows; ++row)
    along_rows.transform(std::span(array).subspan(row * shape.columns, shape.columns));
  Fft along_columns(shape.rows);
  std::vector<Complex> line(shape.rows);
  for (std::size_t column = 0; column < shape.columns; ++column) {
    for (std::size_t row = 0; row < shape.rows; ++row) line[row] = array[row * shape.columns + column];
    along_columns.transform(line);
    for (std::size_t row = 0; row < shape.rows; ++row) array[row * shape.columns + column] = line[row];
  }
  return array;
}

/// Element (row, column) of the transform, by the sum over all elements of the input.
Complex by_definition(const Shape& shape, std::size_t row, std::size_t column) {
  std::vector<Complex> roots(shape.columns);
  for (std::size_t j = 0; j < shape.columns; ++j) roots[j] = root_of_unity(j * column, shape.columns);
  Complex sum = 0;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    Complex of_row = 0;
    for (std::size_t j = 0; j < shape.columns; ++j) of_row += input_at(shape, i, j) * roots[j];
    sum += of_row * root_of_unity(i * row, shape.rows);
  }
  return sum;
}

std::string difference(const Shape& shape, std::size_t row, std::size_t column, Complex found, Complex right,
                       const char* beside) {
  const double most = kTolerance * std::sqrt(static_cast<double>(shape.elements()));
  if (std::abs(found - right) <= most) return {};  // false for a NaN
  std::array<char, 240> text{};
  std::snprintf(text.data(), text.size(), "row %zu, column %zu is %.17g%+.17gi, but %.17g%+.17gi %s", row,
                column, found.real(), found.imag(), right.real(), right.imag(), beside);
  return text.data();
}

}  // namespace

Complex input_at(const Shape& shape, std::size_t row, std::size_t column) {
  const std::uint64_t index = row * shape.columns + column;
  return {random_number(2 * index), random_number(2 * index + 1)};
}

std::vector<Complex> input_rows(const Shape& shape, std::size_t first, std::size_t count) {
  std::vector<Complex> rows;
  rows.reserve(count * shape.columns);
  for (std::size_t row = first; row < first + count; ++row) {
    for (std::size_t column = 0; column < shape.columns; ++column)
      rows.push_back(input_at(shape, row, column));
  }
  return rows;
}

std::string what_is_wrong(const Shape& shape, const std::vector<Complex>& found) {
  const std::vector<Complex> alone = transform_alone(shape);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    for (std::size_t column = 0; column < shape.columns; ++column) {
      std::string wrong = difference(shape, row, column, found[column * shape.rows + row],
                                     alone[row * shape.columns + column], "in the serial transform");
      if (!wrong.empty()) return wrong;
    }
  }
  // A mistake of the Fft would be in both transforms.
  const std::size_t last_row = shape.rows - 1;
  const std::size_t last_column = shape.columns - 1;
  const std::pair<std::size_t, std::size_t> places[] = {
      {0, 0}, {last_row, 0}, {0, last_column}, {shape.rows / 2, shape.columns / 3}, {last_row, last_column}};
  for (const auto& [row, column] : places) {
    std::string wrong = difference(shape, row, column, found[column * shape.rows + row],
                                   by_definition(shape, row, column), "by the sum that defines it");
    if (!wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace transpose_fft
