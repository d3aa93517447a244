#pragma once

// Compares the functions that combine arrays with models of one element: any length, and each place that `to` may have.

#include "kernels/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace aqueduct::kernels {

using Random = std::mt19937_64;

/// A value that is likely to be a special one.
template <class T>
struct Awkward {
  static T value(Random& random) {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_integral_v<T>) {
      const T special[] = {0, 1, 2, static_cast<T>(-1), Limits::min(), Limits::max()};
      return random() % 2 == 0 ? special[random() % std::size(special)] : static_cast<T>(random());
    } else {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      const T special[] = {T{0},
                           -T{0},
                           T{1},
                           T{-3},
                           Limits::infinity(),
                           -Limits::infinity(),
                           Limits::quiet_NaN(),
                           -Limits::quiet_NaN(),
                           Limits::max(),
                           Limits::lowest(),
                           Limits::min(),
                           Limits::denorm_min()};
      switch (random() % 3) {
        case 0: return special[random() % std::size(special)];
        case 1: return std::bit_cast<T>(static_cast<Bits>(random()));
        default: return static_cast<T>(std::uniform_real_distribution<double>(-100, 100)(random));
      }
    }
  }
};
template <class T>
struct Awkward<std::complex<T>> {
  static std::complex<T> value(Random& random) {
    const T real = Awkward<T>::value(random);
    return {real, Awkward<T>::value(random)};
  }
};
template <class T>
struct Awkward<WithIndex<T>> {
  static WithIndex<T> value(Random& random) {
    const T found = Awkward<T>::value(random);
    return {found, static_cast<std::int64_t>(random() % 4) - 1};
  }
};
template <class T>
std::vector<T> awkward_values(Random& random, std::size_t count) {
  std::vector<T> values(count);
  std::generate(values.begin(), values.end(), [&] { return Awkward<T>::value(random); });
  return values;
}

/// Whether two elements have the same bits, or are both NaN.
template <class T>
bool alike(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a == T{0} && b == T{0}) return std::signbit(a) == std::signbit(b);
    return a == b || (a != a && b != b);
  }
  return a == b;
}
template <class T>
bool alike(const std::complex<T>& a, const std::complex<T>& b) {
  return alike(a.real(), b.real()) && alike(a.imag(), b.imag());
}
template <class T>
bool alike(const WithIndex<T>& a, const WithIndex<T>& b) {
  return alike(a.value, b.value) && a.index == b.index;
}

enum class Target { apart, left, right, both };

/// Compares arrays of `count` elements with the model, and one element behind them with what it was.
template <class T, class Model>
void expect_array(CombineFunction combine, Model model, std::size_t count, Target target, Random& random) {
  const std::vector<T> left = awkward_values<T>(random, count + 1);
  const std::vector<T> right = target == Target::both ? left : awkward_values<T>(random, count + 1);
  std::vector<T> to = awkward_values<T>(random, count + 1);
  if (target == Target::left || target == Target::both) to = left;
  if (target == Target::right) to = right;
  const T behind = to.back();
  combine(to.data(), target == Target::left || target == Target::both ? to.data() : left.data(),
          target == Target::right || target == Target::both ? to.data() : right.data(), count, nullptr);
  for (std::size_t i = 0; i < count; ++i) {
    const T expected = model(left[i], right[i]);
    ASSERT_TRUE(alike(to[i], expected))
        << "element " << i << " of " << count << ", target " << static_cast<int>(target) << ": "
        << testing::PrintToString(left[i]) << ", " << testing::PrintToString(right[i]) << " gave "
        << testing::PrintToString(to[i]) << " instead of " << testing::PrintToString(expected);
  }
  ASSERT_TRUE(alike(to.back(), behind)) << "an element behind " << count << " was written";
}

template <class T, class Model>
void expect_combines(ElementType type, ReduceOp op, Model model) {
  SCOPED_TRACE(testing::Message() << "type " << static_cast<int>(type) << ", operator "
                                  << static_cast<int>(op));
  EXPECT_EQ(element_bytes(type), sizeof(T));
  const CombineFunction combine = combine_of(type, op);
  ASSERT_NE(combine, nullptr);
  Random random(static_cast<std::uint64_t>(type) * 100 + static_cast<std::uint64_t>(op));
  for (const std::size_t count : {0u, 1u, 2u, 7u, 16u, 33u, 64u, 1000u}) {
    for (const Target target : {Target::apart, Target::left, Target::right, Target::both}) {
      expect_array<T>(combine, model, count, target, random);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

/// One pair, at each place of an array that is long enough for a vectorised loop and its remainder.
template <class T>
std::vector<T> combined(ElementType type, ReduceOp op, const T& left, const T& right) {
  std::vector<T> to(19, left);
  const std::vector<T> other(to.size(), right);
  combine_of(type, op)(to.data(), to.data(), other.data(), to.size(), nullptr);
  return to;
}
template <class T>
bool all_alike(const std::vector<T>& found, const T& expected) {
  return std::all_of(found.begin(), found.end(), [&](const T& one) { return alike(one, expected); });
}

}  // namespace aqueduct::kernels
