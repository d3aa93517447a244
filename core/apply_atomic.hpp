#pragma once

#include <aqueduct/atomics.hpp>

#include <cstddef>
#include <cstdint>

namespace aqueduct::core {

constexpr std::size_t bytes_of(AtomicType type) noexcept {
  return type == AtomicType::i32 || type == AtomicType::u32 || type == AtomicType::f32 ? 4 : 8;
}

/// Does an atomic that is known at run time only; returns the bits of the value before. Requires: `at` is a multiple of the
/// type's size.
[[gnu::noinline]] std::uint64_t apply_atomic(AtomicOp op, AtomicType type, std::uint64_t operand,
                                             std::uint64_t expected, std::byte* at) noexcept;

}  // namespace aqueduct::core
