#include "heat2d/grid.hpp"

#include <algorithm>
#include <utility>

namespace heat2d {
namespace {

// Chosen: Jacobi's method is stable up to a quarter.
constexpr float kDiffusion = 0.2F;

float step_cell(float centre, float north, float south, float west, float east) {
  return centre + kDiffusion * ((north + south) + (west + east) - 4.0F * centre);
}

}  // namespace

RowRange rows_of(aqueduct::Rank rank, aqueduct::Rank ranks, std::size_t rows) {
  return {rows * rank / ranks, rows * (rank + 1) / ranks};
}

float initial_value(const Shape& shape, std::size_t row, std::size_t column) {
  const float y = (static_cast<float>(row) + 0.5F) / static_cast<float>(shape.rows);
  const float x = (static_cast<float>(column) + 0.5F) / static_cast<float>(shape.columns);
  const float from_disc = (x - 0.35F) * (x - 0.35F) + (y - 0.4F) * (y - 0.4F);
  if (from_disc < 0.04F) return 1.0F;
  if (y > 0.75F && y < 0.85F && x > 0.2F && x < 0.9F) return 0.6F;
  return 0.0F;
}

std::vector<float> initial_rows(const Shape& shape, RowRange rows) {
  std::vector<float> field;
  field.reserve(rows.count() * shape.columns);
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    for (std::size_t column = 0; column < shape.columns; ++column) {
      field.push_back(initial_value(shape, row, column));
    }
  }
  return field;
}

void step_row(std::span<const float> north, std::span<const float> row, std::span<const float> south,
              std::span<float> out) {
  const std::size_t last = row.size() - 1;
  out[0] = step_cell(row[0], north[0], south[0], row[0], row[std::min<std::size_t>(1, last)]);
  for (std::size_t i = 1; i < last; ++i) {
    out[i] = step_cell(row[i], north[i], south[i], row[i - 1], row[i + 1]);
  }
  if (last > 0) out[last] = step_cell(row[last], north[last], south[last], row[last - 1], row[last]);
}

std::vector<float> solve_alone(const Shape& shape, std::vector<float> field, std::size_t steps) {
  std::vector<float> next(field.size());
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t row = 0; row < shape.rows; ++row) {
      const std::size_t north = row == 0 ? row : row - 1;
      const std::size_t south = row + 1 == shape.rows ? row : row + 1;
      step_row(row_of(std::as_const(field), shape.columns, north),
               row_of(std::as_const(field), shape.columns, row),
               row_of(std::as_const(field), shape.columns, south), row_of(next, shape.columns, row));
    }
    field.swap(next);
  }
  return field;
}

}  // namespace heat2d
