#pragma once

#include <cstdint>

namespace gups {

/// The pseudo-random numbers of the HPC Challenge RandomAccess benchmark.
///
/// Number k is the polynomial x^k modulo x^64 + x^2 + x + 1 over GF(2), bit i being the coefficient of x^i. So
/// the next number is a shift, and each rank can begin anywhere in the sequence.
constexpr std::uint64_t next(std::uint64_t number) {
  return (number << 1) ^ ((number >> 63) != 0 ? 7u : 0u);  // x^64 is x^2 + x + 1
}

/// Multiplies two polynomials.
constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  for (; b != 0; b >>= 1, a = next(a)) {
    if ((b & 1) != 0) product ^= a;
  }
  return product;
}

/// Number k, by about 64 multiplications.
constexpr std::uint64_t number_at(std::uint64_t k) {
  std::uint64_t result = 1;
  for (int bit = 63; bit >= 0; --bit) {
    result = multiply(result, result);
    if (((k >> bit) & 1) != 0) result = next(result);
  }
  return result;
}

static_assert(number_at(0) == 1 && number_at(64) == 7 && number_at(65) == 14);
static_assert(next(number_at(999)) == number_at(1000));
static_assert(multiply(number_at(123456789), number_at(987654321)) == number_at(1111111110));

}  // namespace gups
