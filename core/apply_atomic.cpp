#include "core/apply_atomic.hpp"

#include <aqueduct/atomic_apply.hpp>

#include <cstring>

namespace aqueduct::core {
namespace {

template <Atomic T>
std::uint64_t apply_as(AtomicOp op, std::uint64_t operand_bits, std::uint64_t expected_bits,
                       std::byte* at) noexcept {
  T operand;
  T expected;
  std::memcpy(&operand, &operand_bits, sizeof(T));
  std::memcpy(&expected, &expected_bits, sizeof(T));
  return aqueduct::detail::bits<T>(
      aqueduct::detail::apply<T>(op, *reinterpret_cast<T*>(at), operand, expected));
}

}  // namespace

std::uint64_t apply_atomic(AtomicOp op, AtomicType type, std::uint64_t operand, std::uint64_t expected,
                           std::byte* at) noexcept {
  switch (type) {
    case AtomicType::i32: return apply_as<std::int32_t>(op, operand, expected, at);
    case AtomicType::u32: return apply_as<std::uint32_t>(op, operand, expected, at);
    case AtomicType::i64: return apply_as<std::int64_t>(op, operand, expected, at);
    case AtomicType::u64: return apply_as<std::uint64_t>(op, operand, expected, at);
    case AtomicType::f32: return apply_as<float>(op, operand, expected, at);
    case AtomicType::f64: return apply_as<double>(op, operand, expected, at);
  }
  return 0;
}

}  // namespace aqueduct::core
