#include <aqueduct/atomics.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace aqueduct {
namespace {

// The old value is the next operand, so that the compiler may keep both in one register: g++ 12 then loses the
// operand of the standard library's fetch_and, fetch_or and fetch_xor.
template <class T>
[[gnu::noinline]] T old_becomes_operand(AtomicOp op, T& word, T value, int times) {
  for (int i = 0; i < times; ++i) value = detail::apply<T>(op, word, value, T{});
  return value;
}

template <class T>
class AppliedAtomics : public testing::Test {};
using Words = testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(AppliedAtomics, Words);

TYPED_TEST(AppliedAtomics, MayUseTheOldValueAsTheNextOperand) {
  TypeParam word = 0b1100;
  EXPECT_EQ(old_becomes_operand<TypeParam>(AtomicOp::bit_xor, word, 0b1010, 1), 0b1100);
  EXPECT_EQ(word, 0b0110);
  EXPECT_EQ(old_becomes_operand<TypeParam>(AtomicOp::bit_and, word, 0b1010, 1), 0b0110);
  EXPECT_EQ(word, 0b0010);
  EXPECT_EQ(old_becomes_operand<TypeParam>(AtomicOp::bit_or, word, 0b1001, 1), 0b0010);
  EXPECT_EQ(word, 0b1011);
  word = 1;  // 1, 2 -> 3, 1 -> 2, 3 -> 1, 2
  EXPECT_EQ(old_becomes_operand<TypeParam>(AtomicOp::bit_xor, word, 2, 3), 2);
  EXPECT_EQ(word, 1);
}

TYPED_TEST(AppliedAtomics, HaveTheSameEffectWhereNothingIsFetched) {
  for (const AtomicOp op : {AtomicOp::bit_and, AtomicOp::bit_or, AtomicOp::bit_xor}) {
    TypeParam fetched = 0b1100;
    TypeParam unfetched = 0b1100;
    detail::apply<TypeParam>(op, fetched, 0b1010, TypeParam{});
    detail::apply<TypeParam>(op, unfetched, 0b1010, TypeParam{}, false);
    EXPECT_EQ(fetched, unfetched) << static_cast<int>(op);
    EXPECT_NE(fetched, 0b1100);
  }
}

}  // namespace
}  // namespace aqueduct
