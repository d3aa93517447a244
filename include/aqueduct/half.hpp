#pragma once

#include <bit>
#include <cstdint>

namespace aqueduct {

/// IEEE 754 binary16, as its bits. Reductions keep partial results as float and round once.
struct Half {
  std::uint16_t bits = 0;
  friend bool operator==(Half, Half) noexcept = default;
};
/// The upper half of a float. Reductions keep partial results as float and round once.
struct Bfloat16 {
  std::uint16_t bits = 0;
  friend bool operator==(Bfloat16, Bfloat16) noexcept = default;
};

// The conversions have no branches and use signed integers, so that compilers vectorise loops over them for plain SSE2 too.

/// The same number as a float: exact. A NaN stays a NaN, with its sign and the upper bits of its payload.
constexpr float to_float(Half half) noexcept {
  const std::uint32_t sign = (half.bits & 0x8000u) << 16;
  const std::int32_t rest = half.bits & 0x7fff;
  // Numbers below 2^-14 are multiples of 2^-24.
  const float subnormal = static_cast<float>(rest) * 0x1p-24f;
  // The exponents' biases differ by 112. Infinity and NaN have the greatest exponent: 31 becomes 255.
  const std::int32_t normal = (rest << 13) + ((rest < 0x7c00 ? 112 : 224) << 23);
  const std::int32_t magnitude = rest < 0x400 ? std::bit_cast<std::int32_t>(subnormal) : normal;
  return std::bit_cast<float>(sign | static_cast<std::uint32_t>(magnitude));
}

/// The nearest Half; of two equally near ones that with an even last bit. What is too large becomes infinity. A NaN stays
/// a NaN, with its sign and the upper bits of its payload.
constexpr Half to_half(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::int32_t rest = static_cast<std::int32_t>(bits & 0x7fffffffu);
  constexpr std::int32_t kLeastNormal = 0x38800000;  // 2^-14
  constexpr std::int32_t kInfinity = 0x7f800000;
  // The last bit of 0.5 counts 2^-24, so the addition rounds to a multiple of that: the last bits of the sum count them.
  const float small = std::bit_cast<float>(rest < kLeastNormal ? rest : 0);
  const std::int32_t subnormal = std::bit_cast<std::int32_t>(small + 0.5f) - 0x3f000000;
  // Of the 13 bits that go, more than half carries into the next one, which may carry into the exponent; exactly half
  // does so if the next one is odd.
  const std::int32_t rounded = (rest - (112 << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
  const std::int32_t normal = rounded < 0x7c00 ? rounded : 0x7c00;
  const std::int32_t nan = 0x7e00 | (rest >> 13 & 0x3ff);
  const std::int32_t number = rest < kLeastNormal ? subnormal : normal;
  const std::int32_t magnitude = rest > kInfinity ? nan : number;
  return Half{static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(magnitude))};
}

/// As to_float of a Half.
constexpr float to_float(Bfloat16 half) noexcept {
  return std::bit_cast<float>(std::uint32_t{half.bits} << 16);
}

/// The nearest Bfloat16, as to_half.
constexpr Bfloat16 to_bfloat16(float value) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::int32_t rest = static_cast<std::int32_t>(bits & 0x7fffffffu);
  const std::uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  const std::uint32_t nan = bits >> 16 | 0x40u;
  return Bfloat16{static_cast<std::uint16_t>(rest > 0x7f800000 ? nan : rounded)};
}

}  // namespace aqueduct
