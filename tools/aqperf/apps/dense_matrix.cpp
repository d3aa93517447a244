#include "tools/aqperf/apps/dense_matrix.hpp"

#include <algorithm>

namespace aqueduct::perf {

std::vector<double> DenseMatrix::blocks(std::size_t ranks) const {
  std::vector<double> out(ranks * block());
  for (std::size_t column = 0; column < rows_; ++column) {
    for (std::size_t row = 0; row < rows_; ++row) out[column * rows_ + row] = element(row, column);
  }
  return out;
}

void DenseMatrix::multiply(std::span<const double> block, std::span<const double> vector, std::size_t rank,
                           std::span<double> partial) const {
  std::fill(partial.begin(), partial.end(), 0.0);
  const std::size_t first = std::min(rank * columns_, rows_);
  const std::size_t last = std::min(first + columns_, rows_);
  for (std::size_t column = first; column < last; ++column) {
    const double factor = vector[column];
    const double* const values = block.data() + (column - first) * rows_;
    for (std::size_t row = 0; row < rows_; ++row) partial[row] += factor * values[row];
  }
}

double DenseMatrix::expected(std::size_t row, std::size_t turn) const {
  double sum = 0;
  for (std::size_t column = 0; column < rows_; ++column) sum += element(row, column) * input(column, turn);
  return sum;
}

}  // namespace aqueduct::perf
