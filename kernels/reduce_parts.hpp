#pragma once

#include <aqueduct/coll_types.hpp>

/// Each returns null for types that are not its own, and for operators that its types do not have.
namespace aqueduct::kernels {

CombineFunction combine_integers(ElementType type, ReduceOp op) noexcept;
CombineFunction combine_floats(ElementType type, ReduceOp op) noexcept;
CombineFunction combine_complex(ElementType type, ReduceOp op) noexcept;
CombineFunction combine_indexed(ElementType type, ReduceOp op) noexcept;

}  // namespace aqueduct::kernels
