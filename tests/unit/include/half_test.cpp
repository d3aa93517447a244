// Each of the 65536 values of a short float, and the floats around the middle between each two of them.

#include <aqueduct/half.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace aqueduct {
namespace {

constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();

static_assert(to_float(Half{0x3c00}) == 1.0f && to_float(Half{0xc000}) == -2.0f);
static_assert(to_half(1.0f) == Half{0x3c00} && to_half(-0.0f) == Half{0x8000} &&
              to_half(65504) == Half{0x7bff});
static_assert(to_half(std::numeric_limits<float>::quiet_NaN()) == Half{0x7e00});
static_assert(to_bfloat16(1.0f) == Bfloat16{0x3f80} && to_float(Bfloat16{0xc000}) == -2.0f);

/// The magnitude of a short float: `exponent` bits, then `mantissa` bits.
float magnitude_of(std::uint32_t bits, int exponent, int mantissa) {
  const int bias = (1 << (exponent - 1)) - 1;
  const int power = static_cast<int>(bits >> mantissa);
  const int fraction = static_cast<int>(bits & ((1u << mantissa) - 1));
  if (power == (1 << exponent) - 1) {
    return fraction == 0 ? kFloatInfinity : std::numeric_limits<float>::quiet_NaN();
  }
  if (power == 0) return std::ldexp(static_cast<float>(fraction), 1 - bias - mantissa);
  return std::ldexp(static_cast<float>(fraction + (1 << mantissa)), power - bias - mantissa);
}

template <class T, class Narrow>
void expect_each_value(int exponent, int mantissa, Narrow narrow) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const T value{static_cast<std::uint16_t>(bits)};
    const float expected = magnitude_of(bits & 0x7fff, exponent, mantissa);
    const float found = to_float(value);
    ASSERT_EQ(std::signbit(found), bits >> 15 != 0) << bits;
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(found)) << bits;
      ASSERT_TRUE(std::isnan(to_float(narrow(found)))) << bits;
      ASSERT_EQ(narrow(found).bits >> 15, bits >> 15) << bits;
    } else {
      ASSERT_EQ(std::fabs(found), expected) << bits;
      ASSERT_EQ(narrow(found), value) << bits;
    }
  }
}

/// From each value to the next greater one: floats below their middle go to the first, floats above to the second.
template <class T, class Narrow>
void expect_each_rounding(std::uint32_t infinity, int exponent, int mantissa, Narrow narrow) {
  for (std::uint32_t bits = 0; bits < infinity; ++bits) {
    const double here = magnitude_of(bits, exponent, mantissa);
    // Behind the greatest value comes a power of two that is too large: infinity.
    const double next = bits + 1 == infinity ? std::ldexp(1.0, 1 << (exponent - 1))
                                             : double{magnitude_of(bits + 1, exponent, mantissa)};
    const float middle = static_cast<float>((here + next) / 2);
    const float below = std::nextafter(middle, 0.0f);
    const float above = std::nextafter(middle, kFloatInfinity);
    const std::uint32_t even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(narrow(below).bits, bits);
    ASSERT_EQ(narrow(middle).bits, even);
    ASSERT_EQ(narrow(above).bits, bits + 1);
    ASSERT_EQ(narrow(-below).bits, bits | 0x8000);
    ASSERT_EQ(narrow(-middle).bits, even | 0x8000);
    ASSERT_EQ(narrow(-above).bits, (bits + 1) | 0x8000);
  }
}

TEST(HalfTest, HoldsEachValueExactly) { expect_each_value<Half>(5, 10, to_half); }
TEST(HalfTest, RoundsToNearestEven) { expect_each_rounding<Half>(0x7c00, 5, 10, to_half); }
TEST(Bfloat16Test, HoldsEachValueExactly) { expect_each_value<Bfloat16>(8, 7, to_bfloat16); }
TEST(Bfloat16Test, RoundsToNearestEven) { expect_each_rounding<Bfloat16>(0x7f80, 8, 7, to_bfloat16); }

TEST(HalfTest, MakesInfinityOfWhatIsTooLarge) {
  for (const float large : {65520.0f, 65536.0f, 1e10f, std::numeric_limits<float>::max(), kFloatInfinity}) {
    EXPECT_EQ(to_half(large).bits, 0x7c00) << large;
    EXPECT_EQ(to_half(-large).bits, 0xfc00) << large;
  }
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(to_bfloat16(-kFloatInfinity).bits, 0xff80);
}

TEST(HalfTest, MakesZeroOfWhatIsTooSmall) {
  for (const float small : {0.0f, 0x1p-25f, 0x1p-100f, std::numeric_limits<float>::denorm_min()}) {
    EXPECT_EQ(to_half(small).bits, 0) << small;
    EXPECT_EQ(to_half(-small).bits, 0x8000) << small;
  }
}

// A payload may lie in the bits that go: what is left must not be an infinity.
TEST(HalfTest, KeepsEachNan) {
  for (int bit = 0; bit < 23; ++bit) {
    for (const std::uint32_t sign : {0u, 1u}) {
      const float nan = std::bit_cast<float>(sign << 31 | 0x7f800000u | 1u << bit);
      EXPECT_TRUE(std::isnan(to_float(to_half(nan)))) << bit;
      EXPECT_TRUE(std::isnan(to_float(to_bfloat16(nan)))) << bit;
      EXPECT_EQ(to_half(nan).bits >> 15, sign) << bit;
      EXPECT_EQ(to_bfloat16(nan).bits >> 15, sign) << bit;
    }
  }
}

}  // namespace
}  // namespace aqueduct
