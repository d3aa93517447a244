#include "tests/unit/kernels/reduce_arrays.hpp"

#include <algorithm>
#include <cstdint>

namespace aqueduct::kernels {
namespace {

/// What 64 bits give, cut off.
template <class T>
T cut(std::uint64_t value) {
  return static_cast<T>(value);
}
template <class T>
std::uint64_t long_of(T value) {
  return static_cast<std::uint64_t>(value);
}

template <class T>
void expect_integers(ElementType type) {
  expect_combines<T>(type, ReduceOp::sum, [](T a, T b) { return cut<T>(long_of(a) + long_of(b)); });
  expect_combines<T>(type, ReduceOp::product, [](T a, T b) { return cut<T>(long_of(a) * long_of(b)); });
  expect_combines<T>(type, ReduceOp::min, [](T a, T b) { return std::min(a, b); });
  expect_combines<T>(type, ReduceOp::max, [](T a, T b) { return std::max(a, b); });
  expect_combines<T>(type, ReduceOp::bit_and, [](T a, T b) { return cut<T>(long_of(a) & long_of(b)); });
  expect_combines<T>(type, ReduceOp::bit_or, [](T a, T b) { return cut<T>(long_of(a) | long_of(b)); });
  expect_combines<T>(type, ReduceOp::bit_xor, [](T a, T b) { return cut<T>(long_of(a) ^ long_of(b)); });
  expect_combines<T>(type, ReduceOp::logical_and, [](T a, T b) { return T{a != 0 && b != 0}; });
  expect_combines<T>(type, ReduceOp::logical_or, [](T a, T b) { return T{a != 0 || b != 0}; });
  expect_combines<T>(type, ReduceOp::logical_xor, [](T a, T b) { return T{(a != 0) != (b != 0)}; });
}

TEST(ReduceIntegers, CombineAsOneByOne) {
  expect_integers<std::int8_t>(ElementType::i8);
  expect_integers<std::int16_t>(ElementType::i16);
  expect_integers<std::int32_t>(ElementType::i32);
  expect_integers<std::int64_t>(ElementType::i64);
  expect_integers<std::uint8_t>(ElementType::u8);
  expect_integers<std::uint16_t>(ElementType::u16);
  expect_integers<std::uint32_t>(ElementType::u32);
  expect_integers<std::uint64_t>(ElementType::u64);
}

TEST(ReduceIntegers, WrapAround) {
  const auto wrapped = combined<std::int32_t>(ElementType::i32, ReduceOp::sum, INT32_MAX, 1);
  EXPECT_TRUE(all_alike(wrapped, INT32_MIN));
  // As int, this product would overflow.
  const auto product = combined<std::uint16_t>(ElementType::u16, ReduceOp::product, 65535, 65535);
  EXPECT_TRUE(all_alike(product, std::uint16_t{1}));
}

// The low bits of 2 are no truth value of their own.
TEST(ReduceIntegers, TakeAnythingButZeroForTrue) {
  EXPECT_TRUE(
      all_alike(combined<std::uint8_t>(ElementType::u8, ReduceOp::logical_and, 2, 1), std::uint8_t{1}));
  EXPECT_TRUE(
      all_alike(combined<std::uint8_t>(ElementType::u8, ReduceOp::logical_xor, 2, 1), std::uint8_t{0}));
}

}  // namespace
}  // namespace aqueduct::kernels
