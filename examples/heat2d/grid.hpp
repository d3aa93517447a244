#pragma once

#include <aqueduct/rank.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace heat2d {

/// A plate of rows × columns cells, stored row by row; each cell is a temperature between 0 and 1.
struct Shape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t cells() const { return rows * columns; }
};

/// Rows from `first` up to, but not including, `last`.
struct RowRange {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t count() const { return last - first; }
};

/// The rows that belong to a rank; shares are as even as possible.
RowRange rows_of(aqueduct::Rank rank, aqueduct::Rank ranks, std::size_t rows);

/// One row of a field.
inline std::span<const float> row_of(const std::vector<float>& field, std::size_t columns, std::size_t row) {
  return std::span(field).subspan(row * columns, columns);
}
inline std::span<float> row_of(std::vector<float>& field, std::size_t columns, std::size_t row) {
  return std::span(field).subspan(row * columns, columns);
}

/// The initial field if no image is given: a cold plate with a hot disc and a warm bar.
float initial_value(const Shape& shape, std::size_t row, std::size_t column);
std::vector<float> initial_rows(const Shape& shape, RowRange rows);

/// Computes the new temperatures of one row from its old ones and those of the rows to the north and south.
///
/// The plate is insulated: beyond its edge a cell sees itself. A caller at the first or last row of the plate
/// passes the row itself as `north` or `south`. Never inlined: results are compared bit for bit, so all
/// callers must run exactly the same instructions.
[[gnu::noinline]] void step_row(std::span<const float> north, std::span<const float> row,
                                std::span<const float> south, std::span<float> out);

/// The whole computation by one rank alone: the distributed result must equal it bit for bit.
std::vector<float> solve_alone(const Shape& shape, std::vector<float> field, std::size_t steps);

}  // namespace heat2d
