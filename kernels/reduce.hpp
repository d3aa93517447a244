#pragma once

#include <aqueduct/coll_types.hpp>

#include "kernels/reduce_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace aqueduct::kernels {

/// The function that combines arrays of `type` with one of the library's operators; null if the type does not have it
/// (ReduceOp says which do). Half and Bfloat16 have the functions of float: their partial results travel as float, see
/// widening_of.
///
/// Of the function: `to` may be `left` or `right` or both, but overlaps neither in part. Pointers are aligned for the
/// element, and may be null if `count` is 0. It ignores its context.
/// Results: the same bits on every processor, except for the payload of a NaN that is a sum or product: no multiplication
///          and addition become one operation. Those of min and max do not depend on the order of the operands either;
///          a NaN among them is always numeric_limits::quiet_NaN().
CombineFunction combine_of(ElementType type, ReduceOp op) noexcept;

/// Bytes of one element; 0 for `bytes`, whose size only the call knows.
std::uint32_t element_bytes(ElementType type) noexcept;

/// Conversion between elements of a user's buffer and those that a reduction moves and combines.
struct Widening {
  void (*widen)(void* to, const void* from, std::size_t count);  ///< exact; the arrays do not overlap
  void (*narrow)(void* to, const void* from,
                 std::size_t count);  ///< rounds (half.hpp); the arrays do not overlap
  std::uint32_t wide_element;         ///< bytes
};
/// Null if elements of `type` are combined as they are.
const Widening* widening_of(ElementType type, const Processor& processor = Processor::here()) noexcept;

/// Combines any number of arrays in one pass over their memory, such as those of a team's members:
/// to = ((from[0] ∘ from[1]) ∘ from[2]) …, element by element, in this order.
///
/// Blocks of all arrays are combined one after the other, up to four arrays by one loop. What is in between stays in the
/// first cache. Half and Bfloat16 are added up as floats, block by block, and rounded once.
class Fold {
 public:
  /// Nothing.
  Fold() = default;
  /// One of the library's operators; `ok` is false if the type does not have it. Results: those of combine_of, in the order
  /// of the arrays.
  static Fold of(ElementType type, ReduceOp op, const Processor& processor = Processor::here()) noexcept;
  /// An operator of the program's.
  static Fold of(const UserOperator& op) noexcept;

  bool ok() const noexcept { return combine_.two != nullptr; }
  /// Bytes of an element, of the arrays and of `to`.
  std::uint32_t element() const noexcept { return element_; }
  /// `to` may be one of the arrays, or apart from all. With one array it is a copy.
  /// Requires: ok; pointers are aligned for the element; if elements are longer than kBlock bytes, `to` is none of the
  ///           arrays from the third on.
  void operator()(void* to, std::span<const void* const> from, std::size_t count) const noexcept;

  /// Bytes that are combined before the next ones. Chosen: several arrays and the result fit into a first cache of 32 KiB.
  static constexpr std::size_t kBlock = 4096;

 private:
  void fold_blocks(std::byte* to, std::span<const void* const> from, std::size_t count) const noexcept;
  void fold_halves(std::byte* to, std::span<const void* const> from, std::size_t count) const noexcept;

  Combine combine_;
  HalfFold half_;
  void* context_ = nullptr;
  std::uint32_t element_ = 0;
};

}  // namespace aqueduct::kernels
