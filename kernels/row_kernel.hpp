#pragma once

#include "kernels/processor.hpp"

#include <cstddef>
#include <cstdint>

namespace aqueduct::kernels {

/// Copies `count` pieces that lie at regular distances on both sides.
using RowKernel = void (*)(std::byte* to, std::int64_t to_stride, const std::byte* from,
                           std::int64_t from_stride, std::uint64_t count) noexcept;

struct RowShape {
  std::uint64_t bytes;  ///< length of each piece
  std::int64_t to;      ///< stride
  std::int64_t from;    ///< stride
  std::uint64_t count;
  std::uint64_t total;  ///< bytes of all rows that are copied together
};

/// The kernel that is faster than an ordinary loop for such rows on this processor; null if the loop is as fast.
/// Measured by `aqperf vis-kernels`, see docs/decisions/0049-copy-kernels.md.
RowKernel row_kernel(const RowShape& row, const Processor& has) noexcept;

}  // namespace aqueduct::kernels
