#pragma once

#include <aqueduct/rank.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace heat2d {

/// A plate of rows × columns cells, row after row, each a temperature between 0 and 1.
struct Shape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t cells() const { return rows * columns; }
};

/// Rows `first` up to, not including, `last` of the plate.
struct RowRange {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t count() const { return last - first; }
};

/// The rows that belong to a rank: as even a share as there is.
RowRange rows_of(aqueduct::Rank rank, aqueduct::Rank ranks, std::size_t rows);

/// One row of a field.
inline std::span<const float> row_of(const std::vector<float>& field, std::size_t columns, std::size_t row) {
  return std::span(field).subspan(row * columns, columns);
}
inline std::span<float> row_of(std::vector<float>& field, std::size_t columns, std::size_t row) {
  return std::span(field).subspan(row * columns, columns);
}

/// The field to begin with when no image is given: a cold plate with a hot disc and a warm bar.
float initial_value(const Shape& shape, std::size_t row, std::size_t column);
std::vector<float> initial_rows(const Shape& shape, RowRange rows);

/// The new temperatures of one row from its old ones and those of the rows to the north and south.
///
/// The plate is insulated: beyond its edge a cell sees itself. A caller at the first or last row of the plate
/// passes the row itself as `north` or `south`. Never inlined: results are compared bit for bit, so all callers
/// run the very same instructions.
[[gnu::noinline]] void step_row(std::span<const float> north, std::span<const float> row,
                                std::span<const float> south, std::span<float> out);

/// The whole computation by one rank alone: what the distributed one must equal, bit for bit.
std::vector<float> solve_alone(const Shape& shape, std::vector<float> field, std::size_t steps);

}  // namespace heat2d
