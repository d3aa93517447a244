#include "tests/unit/kernels/reduce_arrays.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

namespace aqueduct::kernels {
namespace {

/// Elements as tuples of which the least is the result: NaN first, then the value, then the index.
template <class T>
auto rank_of(const WithIndex<T>& element, bool greatest) {
  const bool number = element.value == element.value;
  // 64 bits of mantissa hold each integer, and the negative of the least one.
  const long double value = number ? static_cast<long double>(element.value) : 0.0L;
  return std::tuple(number, greatest ? -value : value, element.index);
}

template <class T>
void expect_indexed(ElementType type) {
  using E = WithIndex<T>;
  for (const bool greatest : {false, true}) {
    expect_combines<E>(type, greatest ? ReduceOp::max_index : ReduceOp::min_index,
                       [&](E a, E b) { return rank_of(b, greatest) < rank_of(a, greatest) ? b : a; });
  }
}

TEST(ReduceIndexed, CombineAsOneByOne) {
  expect_indexed<std::int32_t>(ElementType::i32_index);
  expect_indexed<std::int64_t>(ElementType::i64_index);
  expect_indexed<float>(ElementType::f32_index);
  expect_indexed<double>(ElementType::f64_index);
}

using IndexedInt = WithIndex<std::int32_t>;
using IndexedDouble = WithIndex<double>;

void expect_found(ReduceOp op, IndexedDouble a, IndexedDouble b, IndexedDouble expected) {
  EXPECT_TRUE(all_alike(combined(ElementType::f64_index, op, a, b), expected)) << a.value << ", " << b.value;
  EXPECT_TRUE(all_alike(combined(ElementType::f64_index, op, b, a), expected)) << b.value << ", " << a.value;
}

TEST(ReduceIndexed, FindTheLeastIndexOfEqualValues) {
  for (const ReduceOp op : {ReduceOp::min_index, ReduceOp::max_index}) {
    EXPECT_TRUE(
        all_alike(combined<IndexedInt>(ElementType::i32_index, op, {5, 9}, {5, -2}), IndexedInt{5, -2}));
    EXPECT_TRUE(
        all_alike(combined<IndexedInt>(ElementType::i32_index, op, {5, -2}, {5, 9}), IndexedInt{5, -2}));
    expect_found(op, {0.0, 4}, {-0.0, 3}, {-0.0, 3});
    expect_found(op, {0.0, 2}, {-0.0, 3}, {0.0, 2});
  }
}

TEST(ReduceIndexed, FindNanBeforeNumbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const ReduceOp op : {ReduceOp::min_index, ReduceOp::max_index}) {
    for (const double number : {0.0, 1.0, inf, -inf}) expect_found(op, {nan, 7}, {number, 3}, {nan, 7});
    expect_found(op, {nan, 7}, {-nan, 3}, {-nan, 3});
  }
}

// Between a value of 4 bytes and its index are bytes that nobody has set.
TEST(ReduceIndexed, LeaveTheBytesBetweenAlone) {
  IndexedInt elements[3];
  std::memset(static_cast<void*>(elements), 0x5a, sizeof elements);
  for (IndexedInt& element : elements) element.value = 1;
  const IndexedInt other[3] = {{0, 1}, {0, 1}, {0, 1}};
  combine_of(ElementType::i32_index, ReduceOp::min_index)(elements, elements, other, 3, nullptr);
  for (const IndexedInt& element : elements) {
    EXPECT_EQ(element, (IndexedInt{0, 1}));
    EXPECT_EQ(reinterpret_cast<const unsigned char*>(&element)[4], 0x5a);
  }
}

}  // namespace
}  // namespace aqueduct::kernels
