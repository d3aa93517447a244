#pragma once

#include <aqueduct/coll_types.hpp>

#include "kernels/processor.hpp"

#include <cstddef>

namespace aqueduct::kernels {

/// How arrays are combined with an operator.
struct Combine {
  CombineFunction two = nullptr;
  /// to = ((from[0] ∘ from[1]) ∘ from[2]) ∘ from[3], element by element; null: only `two` is there. `to` may be any of
  /// the four.
  void (*four)(void* to, const void* const* from, std::size_t count) noexcept = nullptr;
};

/// Each returns nothing for types that are not its own, and for operators that its types do not have.
Combine combine_integers(ElementType type, ReduceOp op, const Processor& processor) noexcept;
Combine combine_floats(ElementType type, ReduceOp op, const Processor& processor) noexcept;
Combine combine_complex(ElementType type, ReduceOp op, const Processor& processor) noexcept;
Combine combine_indexed(ElementType type, ReduceOp op) noexcept;

/// What a fold of Half or Bfloat16 does with a block of floats.
struct HalfFold {
  void (*first)(void* sum, const void* from, std::size_t count) = nullptr;           ///< sum = from
  void (*next)(float* sum, const void* from, std::size_t count) noexcept = nullptr;  ///< sum = sum ∘ from
  void (*narrow)(void* to, const void* sum, std::size_t count) = nullptr;            ///< to = sum, rounded
};
/// Null functions for other types, and for operators that floats do not have.
HalfFold half_fold(ElementType type, ReduceOp op, const Processor& processor) noexcept;

}  // namespace aqueduct::kernels
