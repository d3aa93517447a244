// Folds of any number of arrays against the same done pair by pair, on each processor that this one can pretend to be.

#include "kernels/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::kernels {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<Processor> processors() {
  std::vector<Processor> all{{}};
  const Processor here = Processor::here();
  if (here.avx2) all.push_back({.avx2 = true});
  if (here.avx512) all.push_back({.avx2 = true, .avx512 = true});
  return all;
}

constexpr int kFoldTypes = static_cast<int>(ElementType::f64_index) + 1;
constexpr int kFoldOps = static_cast<int>(ReduceOp::user);

/// Numbers for which no float is a NaN: the payloads of those that are sums are not promised.
Bytes some_array(ElementType type, std::size_t count, std::mt19937_64& random) {
  Bytes array(count * element_bytes(type));
  const auto fill = [&]<class T>(T /*like*/) {
    std::uniform_real_distribution<double> values(-100, 100);
    for (std::size_t i = 0; i + sizeof(T) <= array.size(); i += sizeof(T)) {
      const auto value = static_cast<T>(values(random));
      std::memcpy(&array[i], &value, sizeof value);
    }
  };
  switch (type) {
    case ElementType::f32:
    case ElementType::complex_f32: fill(float{}); break;
    case ElementType::f64:
    case ElementType::complex_f64: fill(double{}); break;
    case ElementType::half:
    case ElementType::bfloat16:
      for (std::size_t i = 0; i < count; ++i) {
        const float value = std::uniform_real_distribution<float>(-100, 100)(random);
        const std::uint16_t bits = type == ElementType::half ? to_half(value).bits : to_bfloat16(value).bits;
        std::memcpy(&array[2 * i], &bits, sizeof bits);
      }
      break;
    default:
      for (std::byte& byte : array) byte = static_cast<std::byte>(random());
      if (type == ElementType::f32_index || type == ElementType::f64_index) {
        // Values that compare, and zero bytes between value and index, which a fold leaves alone.
        for (std::size_t i = 0; i < count; ++i) {
          const double value = static_cast<double>(random() % 5);
          const auto narrow = static_cast<float>(value);
          std::byte* const at = &array[i * element_bytes(type)];
          type == ElementType::f64_index ? std::memcpy(at, &value, 8) : std::memcpy(at, &narrow, 4);
        }
      }
      if (type == ElementType::f32_index || type == ElementType::i32_index) {
        for (std::size_t i = 0; i < count; ++i)
          std::fill_n(&array[i * element_bytes(type) + 4], 4, std::byte{});
      }
  }
  return array;
}

/// What a fold is to give, pair by pair.
Bytes expected_of(ElementType type, ReduceOp op, const std::vector<Bytes>& arrays, std::size_t count) {
  const CombineFunction combine = combine_of(type, op);
  if (const Widening* const wide = widening_of(type)) {
    std::vector<float> sum(count), next(count);
    wide->widen(sum.data(), arrays[0].data(), count);
    for (std::size_t i = 1; i < arrays.size(); ++i) {
      wide->widen(next.data(), arrays[i].data(), count);
      combine(sum.data(), sum.data(), next.data(), count, nullptr);
    }
    Bytes out(arrays[0].size());
    wide->narrow(out.data(), sum.data(), count);
    return out;
  }
  Bytes sum = arrays[0];
  for (std::size_t i = 1; i < arrays.size(); ++i)
    combine(sum.data(), sum.data(), arrays[i].data(), count, nullptr);
  return sum;
}

constexpr std::size_t kApart = SIZE_MAX;

/// A fold into a place apart, or into one of its arrays.
void expect_fold(const Fold& fold, std::vector<Bytes> arrays, std::size_t into, std::size_t count,
                 const Bytes& expected, const std::string& what) {
  const std::byte mark{0x5a};
  Bytes apart(count * fold.element() + 1, std::byte{});
  apart.back() = mark;
  std::vector<const void*> from;
  for (const Bytes& array : arrays) from.push_back(array.data());
  void* const to = into == kApart ? apart.data() : arrays[into].data();
  fold(to, from, count);
  const auto* const got = static_cast<const std::byte*>(to);
  ASSERT_TRUE(std::equal(expected.begin(), expected.end(), got)) << what << ", into " << into;
  ASSERT_EQ(apart.back(), mark) << what << ": wrote behind its " << count << " elements";
}

TEST(Fold, GivesTheBitsOfPairsInOrder) {
  std::mt19937_64 random(3);
  for (const Processor& processor : processors()) {
    for (int t = 0; t < kFoldTypes; ++t) {
      for (int o = 0; o < kFoldOps; ++o) {
        const auto type = static_cast<ElementType>(t);
        const auto op = static_cast<ReduceOp>(o);
        const Fold fold = Fold::of(type, op, processor);
        ASSERT_EQ(fold.ok(), combine_of(type, op) != nullptr);
        if (!fold.ok()) continue;
        ASSERT_EQ(fold.element(), element_bytes(type));
        for (const std::size_t count :
             {std::size_t{1}, std::size_t{37}, 2 * Fold::kBlock / fold.element() + 3}) {
          for (const std::size_t arrays : {1u, 2u, 3u, 4u, 5u, 7u, 8u}) {
            std::vector<Bytes> from;
            for (std::size_t i = 0; i < arrays; ++i) from.push_back(some_array(type, count, random));
            const Bytes expected = expected_of(type, op, from, count);
            const std::string what = "type " + std::to_string(t) + ", operator " + std::to_string(o) + ", " +
                                     std::to_string(arrays) + " arrays of " + std::to_string(count) +
                                     ", avx2 " + std::to_string(processor.avx2) + ", avx512 " +
                                     std::to_string(processor.avx512);
            expect_fold(fold, from, kApart, count, expected, what);
            expect_fold(fold, from, 0, count, expected, what);
            expect_fold(fold, from, arrays - 1, count, expected, what);
            if (testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(Fold, OfNothingDoesNothing) {
  const Fold fold = Fold::of(ElementType::f64, ReduceOp::sum);
  double value = 3;
  fold(&value, {}, 1);
  const void* const none[] = {nullptr, nullptr, nullptr};
  fold(nullptr, none, 0);
  EXPECT_EQ(value, 3);
  EXPECT_FALSE(Fold().ok());
  EXPECT_FALSE(Fold::of(ElementType::bytes, ReduceOp::sum).ok());
}

/// A product of 2 x 2 matrices modulo 2^16, which does not commute.
struct Matrix {
  std::uint16_t cells[4];
};
void multiply(void* to, const void* left, const void* right, std::size_t count, void* context) {
  ++*static_cast<int*>(context);
  for (std::size_t i = 0; i < count; ++i) {
    const Matrix a = static_cast<const Matrix*>(left)[i];
    const Matrix b = static_cast<const Matrix*>(right)[i];
    Matrix c;
    // Without a sign, since the product of two cells may pass what an int holds.
    const auto times = [](std::uint32_t x, std::uint32_t y) { return x * y; };
    for (int row = 0; row < 2; ++row) {
      for (int column = 0; column < 2; ++column) {
        c.cells[2 * row + column] = static_cast<std::uint16_t>(
            times(a.cells[2 * row], b.cells[column]) + times(a.cells[2 * row + 1], b.cells[2 + column]));
      }
    }
    static_cast<Matrix*>(to)[i] = c;
  }
}

TEST(Fold, KeepsTheOrderOfAnOperatorThatDoesNotCommute) {
  int calls = 0;
  const Fold fold = Fold::of(UserOperator{multiply, &calls, sizeof(Matrix), false});
  std::mt19937_64 random(5);
  const std::size_t count = Fold::kBlock / sizeof(Matrix) + 7;
  for (const std::size_t arrays : {2u, 3u, 6u}) {
    std::vector<std::vector<Matrix>> from(arrays, std::vector<Matrix>(count));
    for (auto& array : from) {
      for (Matrix& matrix : array) {
        for (std::uint16_t& cell : matrix.cells) cell = static_cast<std::uint16_t>(random());
      }
    }
    std::vector<Matrix> expected = from[0];
    for (std::size_t i = 1; i < arrays; ++i)
      multiply(expected.data(), expected.data(), from[i].data(), count, &calls);
    for (std::size_t into = 0; into < arrays; ++into) {
      auto copy = from;
      std::vector<const void*> pointers;
      for (const auto& array : copy) pointers.push_back(array.data());
      fold(copy[into].data(), pointers, count);
      EXPECT_EQ(std::memcmp(copy[into].data(), expected.data(), count * sizeof(Matrix)), 0)
          << arrays << " into " << into;
    }
  }
  EXPECT_GT(calls, 0);
}

// A sum of halves that is rounded after each array stays at 2048: 2048 + 1 is no half, and rounds down.
TEST(Fold, OfHalvesRoundsOnce) {
  const std::size_t arrays = 33;
  const std::vector<Half> large(100, to_half(2048));
  const std::vector<Half> one(100, to_half(1));
  std::vector<const void*> from(arrays, one.data());
  from[0] = large.data();
  for (const Processor& processor : processors()) {
    std::vector<Half> sum(100);
    Fold::of(ElementType::half, ReduceOp::sum, processor)(sum.data(), from, sum.size());
    for (const Half half : sum) EXPECT_EQ(to_float(half), 2048 + 32);
  }
}

// Conversions have the same bits on each processor, also those of NaNs and of numbers that round.
TEST(Fold, ConvertsHalvesAlikeOnEachProcessor) {
  std::mt19937 random(11);
  std::vector<float> from(20000);
  for (float& value : from) {
    const std::uint32_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
  }
  for (const ElementType type : {ElementType::half, ElementType::bfloat16}) {
    std::vector<std::uint16_t> expected(from.size());
    for (std::size_t i = 0; i < from.size(); ++i)
      expected[i] = type == ElementType::half ? to_half(from[i]).bits : to_bfloat16(from[i]).bits;
    for (const Processor& processor : processors()) {
      std::vector<std::uint16_t> found(from.size());
      widening_of(type, processor)->narrow(found.data(), from.data(), from.size());
      EXPECT_EQ(found, expected);
      std::vector<float> back(from.size());
      widening_of(type, processor)->widen(back.data(), found.data(), found.size());
      for (std::size_t i = 0; i < back.size(); ++i) {
        const float one = type == ElementType::half ? to_float(Half{found[i]}) : to_float(Bfloat16{found[i]});
        ASSERT_EQ(std::memcmp(&one, &back[i], sizeof one), 0) << found[i];
      }
    }
  }
}

}  // namespace
}  // namespace aqueduct::kernels
