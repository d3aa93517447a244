#pragma once

#include <aqueduct/atomic_types.hpp>

#include <cstddef>
#include <cstdint>

namespace aqueduct::core {

constexpr std::size_t bytes_of(AtomicType type) noexcept {
  return type == AtomicType::i32 || type == AtomicType::u32 || type == AtomicType::f32 ? 4 : 8;
}

/// Does an atomic whose operation and type are known only at run time. Returns the bits of the old value.
/// Requires: the address `at` is a multiple of the type's size.
[[gnu::noinline]] std::uint64_t apply_atomic(AtomicOp op, AtomicType type, std::uint64_t operand,
                                             std::uint64_t expected, std::byte* at) noexcept;

}  // namespace aqueduct::core
