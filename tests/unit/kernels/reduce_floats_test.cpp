#include "tests/unit/kernels/reduce_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>

namespace aqueduct::kernels {
namespace {

template <class T>
T least(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T greatest(T a, T b) {
  return -least(-a, -b);
}

/// A product that cannot become part of a fused multiply-add, whatever flags this file is compiled with.
template <class T>
T times(T a, T b) {
  const volatile T product = a * b;
  return product;
}

template <class T>
void expect_floats(ElementType type, ElementType complex_type) {
  expect_combines<T>(type, ReduceOp::sum, [](T a, T b) { return a + b; });
  expect_combines<T>(type, ReduceOp::product, [](T a, T b) { return a * b; });
  expect_combines<T>(type, ReduceOp::min, [](T a, T b) { return least(a, b); });
  expect_combines<T>(type, ReduceOp::max, [](T a, T b) { return greatest(a, b); });
  using C = std::complex<T>;
  expect_combines<C>(complex_type, ReduceOp::sum, [](C a, C b) {
    return C{a.real() + b.real(), a.imag() + b.imag()};
  });
  expect_combines<C>(complex_type, ReduceOp::product, [](C a, C b) {
    return C{times(a.real(), b.real()) - times(a.imag(), b.imag()),
             times(a.real(), b.imag()) + times(a.imag(), b.real())};
  });
}

TEST(ReduceFloats, CombineAsOneByOne) {
  expect_floats<float>(ElementType::f32, ElementType::complex_f32);
  expect_floats<double>(ElementType::f64, ElementType::complex_f64);
}

/// min and max of `a` and `b`, in both orders, have the same bits everywhere.
template <class T>
void expect_bits(ElementType type, ReduceOp op, T a, T b, T expected) {
  for (const auto& [left, right] : {std::pair{a, b}, std::pair{b, a}}) {
    for (const T found : combined(type, op, left, right)) {
      EXPECT_EQ(std::memcmp(&found, &expected, sizeof found), 0)
          << left << ", " << right << " gave " << found << " instead of " << expected;
    }
  }
}
template <class T>
void expect_order_of_special_values(ElementType type) {
  using Limits = std::numeric_limits<T>;
  const T nan = Limits::quiet_NaN();
  for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
    for (const T other : {T{1}, -Limits::infinity(), Limits::infinity(), nan, -nan, -T{0}}) {
      expect_bits(type, op, nan, other, nan);
      expect_bits(type, op, -nan, other, nan);
      expect_bits(type, op, Limits::signaling_NaN(), other, nan);
    }
  }
  expect_bits(type, ReduceOp::min, T{0}, -T{0}, -T{0});
  expect_bits(type, ReduceOp::max, T{0}, -T{0}, T{0});
  expect_bits(type, ReduceOp::min, -T{0}, Limits::denorm_min(), -T{0});
  expect_bits(type, ReduceOp::max, -T{0}, -Limits::denorm_min(), -T{0});
  expect_bits(type, ReduceOp::min, -Limits::infinity(), Limits::lowest(), -Limits::infinity());
  expect_bits(type, ReduceOp::max, Limits::infinity(), Limits::max(), Limits::infinity());
}

TEST(ReduceFloats, OrderZerosAndNans) {
  expect_order_of_special_values<float>(ElementType::f32);
  expect_order_of_special_values<double>(ElementType::f64);
}

// With one rounding instead of two, a·c - b·d would be 2^-60 here.
TEST(ReduceFloats, RoundEachProduct) {
  const double a = 1 + 0x1p-30;
  const auto found =
      combined<std::complex<double>>(ElementType::complex_f64, ReduceOp::product, {a, 1}, {a, 1 + 0x1p-29});
  EXPECT_TRUE(all_alike(found, {0, times(a, 1 + 0x1p-29) + a}));
}

// std::complex would make an infinity of it.
TEST(ReduceFloats, DoNotRepairProducts) {
  const float inf = std::numeric_limits<float>::infinity();
  for (const auto& found :
       combined<std::complex<float>>(ElementType::complex_f32, ReduceOp::product, {inf, inf}, {1, 1})) {
    EXPECT_TRUE(std::isnan(found.real()));
    EXPECT_EQ(found.imag(), inf);
  }
}

}  // namespace
}  // namespace aqueduct::kernels
