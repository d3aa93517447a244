#pragma once

#include <aqueduct/coll_types.hpp>

#include <cstddef>
#include <cstdint>

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
const Widening* widening_of(ElementType type) noexcept;

}  // namespace aqueduct::kernels
