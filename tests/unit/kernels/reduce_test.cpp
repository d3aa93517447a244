#include "tests/unit/kernels/reduce_arrays.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::kernels {
namespace {

constexpr int kTypes = static_cast<int>(ElementType::f64_index) + 1;
constexpr int kOps = static_cast<int>(ReduceOp::user) + 1;

bool has(ElementType type, ReduceOp op) {
  const bool integer = type >= ElementType::i8 && type <= ElementType::u64;
  const bool real = type >= ElementType::half && type <= ElementType::f64;
  const bool complex = type == ElementType::complex_f32 || type == ElementType::complex_f64;
  const bool indexed = type >= ElementType::i32_index;
  if (op <= ReduceOp::product) return integer || real || complex;
  if (op <= ReduceOp::max) return integer || real;
  if (op <= ReduceOp::logical_xor) return integer;
  return op != ReduceOp::user && indexed;
}

TEST(Reduce, HasTheOperatorsThatTypesHave) {
  for (int type = 0; type < kTypes; ++type) {
    for (int op = 0; op < kOps; ++op) {
      const auto t = static_cast<ElementType>(type);
      const auto o = static_cast<ReduceOp>(op);
      EXPECT_EQ(combine_of(t, o) != nullptr, has(t, o)) << "type " << type << ", operator " << op;
    }
  }
  EXPECT_EQ(element_bytes(ElementType::bytes), 0u);
}

// Types and operators come from a message, too.
TEST(Reduce, HasNothingForNumbersThatAreNoType) {
  EXPECT_EQ(combine_of(static_cast<ElementType>(kTypes), ReduceOp::sum), nullptr);
  EXPECT_EQ(combine_of(ElementType::i32, static_cast<ReduceOp>(kOps)), nullptr);
  EXPECT_EQ(element_bytes(static_cast<ElementType>(kTypes)), 0u);
  EXPECT_EQ(widening_of(static_cast<ElementType>(kTypes)), nullptr);
}

TEST(Reduce, TakesNoMemoryForNoElements) {
  for (int type = 0; type < kTypes; ++type) {
    for (int op = 0; op < kOps; ++op) {
      const CombineFunction combine = combine_of(static_cast<ElementType>(type), static_cast<ReduceOp>(op));
      if (combine != nullptr) combine(nullptr, nullptr, nullptr, 0, nullptr);
    }
  }
}

TEST(Reduce, CombinesShortFloatsAsFloats) {
  for (const ElementType type : {ElementType::half, ElementType::bfloat16}) {
    ASSERT_NE(widening_of(type), nullptr);
    EXPECT_EQ(widening_of(type)->wide_element, element_bytes(ElementType::f32));
    EXPECT_EQ(element_bytes(type), 2u);
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::product, ReduceOp::min, ReduceOp::max}) {
      EXPECT_EQ(combine_of(type, op), combine_of(ElementType::f32, op));
    }
  }
  for (int type = 0; type < kTypes; ++type) {
    const auto t = static_cast<ElementType>(type);
    EXPECT_EQ(widening_of(t) != nullptr, t == ElementType::half || t == ElementType::bfloat16);
  }
}

template <class T, class Narrow>
void expect_conversions(ElementType type, Narrow narrow) {
  const Widening& widening = *widening_of(type);
  std::vector<T> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<std::uint16_t>(i);
  std::vector<float> wide(all.size());
  widening.widen(wide.data(), all.data(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), std::bit_cast<std::uint32_t>(to_float(all[i]))) << i;
  }
  Random random(1);
  for (const std::size_t count : {0u, 1u, 7u, 64u, 1000u}) {
    const std::vector<float> from = awkward_values<float>(random, count + 1);
    std::vector<T> to(count + 1, T{0x1234});
    widening.narrow(to.data(), from.data(), count);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(to[i].bits, narrow(from[i]).bits) << from[i];
    EXPECT_EQ(to.back().bits, 0x1234);
  }
}

TEST(Reduce, ConvertsArraysAsElements) {
  expect_conversions<Half>(ElementType::half, to_half);
  expect_conversions<Bfloat16>(ElementType::bfloat16, to_bfloat16);
}

}  // namespace
}  // namespace aqueduct::kernels
