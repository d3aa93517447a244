#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace aqueduct::perf {

/// A square matrix of small whole numbers, whose products are exact in any order, split by columns over ranks (requirement HB-06).
class DenseMatrix {
 public:
  DenseMatrix(std::size_t rows, std::size_t ranks) : rows_(rows), columns_((rows + ranks - 1) / ranks) {}

  std::size_t rows() const noexcept { return rows_; }
  /// Of each rank. The last ranks may have some of zeros, beyond those of the matrix.
  std::size_t columns() const noexcept { return columns_; }
  std::size_t block() const noexcept { return rows_ * columns_; }

  static double element(std::size_t row, std::size_t column) noexcept {
    return static_cast<double>((row * 3 + column * 5) % 7) - 3;
  }
  /// Element i of the vector of a turn.
  static double input(std::size_t i, std::size_t turn) noexcept {
    return static_cast<double>((i + turn) % 5) - 2;
  }

  /// The blocks of all ranks, one behind the other; of a block, column by column.
  std::vector<double> blocks(std::size_t ranks) const;
  /// Writes a rank's part of the product to `partial`, which is as long as the vector.
  void multiply(std::span<const double> block, std::span<const double> vector, std::size_t rank,
                std::span<double> partial) const;
  /// Row `row` of the product with the vector of a turn.
  double expected(std::size_t row, std::size_t turn) const;

 private:
  std::size_t rows_;
  std::size_t columns_;
};

}  // namespace aqueduct::perf
