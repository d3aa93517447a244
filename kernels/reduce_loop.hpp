#pragma once

#include "kernels/processor.hpp"
#include "kernels/reduce_parts.hpp"

#include <cstddef>
#include <cstring>

// `to` may be one of the operands, which compilers would have to rule out before they vectorise a loop. But an iteration
// writes only what it alone reads, so iterations are independent all the same.
#if defined(__clang__)
#define AQUEDUCT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define AQUEDUCT_INDEPENDENT _Pragma("GCC ivdep")
#else
#define AQUEDUCT_INDEPENDENT
#endif

namespace aqueduct::kernels {

/// Element `i` of an array. By memcpy, since the program's elements may have another type of the same size and form
/// (`long long` for int64_t, std::complex for two floats).
template <class T>
T element_at(const void* array, std::size_t i) noexcept {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(array) + i * sizeof(T), sizeof(T));
  return value;
}
template <class T>
void set_element(void* array, std::size_t i, T value) noexcept {
  std::memcpy(static_cast<std::byte*>(array) + i * sizeof(T), &value, sizeof(T));
}

// The loops of an operator, a function of two T, for one instruction set. The code is the same: what differs is what the
// compiler may use. Elements are combined in the order of the operands, each by itself, so the bits do not depend on it.
#define AQUEDUCT_REDUCE_LOOPS(NAME, TARGET)                                                           \
  template <class T, class Operator>                                                                  \
  struct NAME {                                                                                       \
    TARGET static void two(void* to, const void* left, const void* right, std::size_t count,          \
                           void* /*context*/) noexcept {                                              \
      AQUEDUCT_INDEPENDENT                                                                            \
      for (std::size_t i = 0; i < count; ++i) {                                                       \
        set_element<T>(to, i, Operator{}(element_at<T>(left, i), element_at<T>(right, i)));           \
      }                                                                                               \
    }                                                                                                 \
    TARGET static void four(void* to, const void* const* from, std::size_t count) noexcept {          \
      const void* const a = from[0];                                                                  \
      const void* const b = from[1];                                                                  \
      const void* const c = from[2];                                                                  \
      const void* const d = from[3];                                                                  \
      AQUEDUCT_INDEPENDENT                                                                            \
      for (std::size_t i = 0; i < count; ++i) {                                                       \
        const T one = Operator{}(element_at<T>(a, i), element_at<T>(b, i));                           \
        set_element<T>(to, i, Operator{}(Operator{}(one, element_at<T>(c, i)), element_at<T>(d, i))); \
      }                                                                                               \
    }                                                                                                 \
  };
AQUEDUCT_REDUCE_LOOPS(PlainLoops, )
#if defined(__x86_64__)
#if defined(__clang__)
#define AQUEDUCT_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]
#else
#define AQUEDUCT_AVX512 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")]]
#endif
#define AQUEDUCT_AVX2 [[gnu::target("avx2")]]
AQUEDUCT_REDUCE_LOOPS(Avx2Loops, AQUEDUCT_AVX2)
AQUEDUCT_REDUCE_LOOPS(Avx512Loops, AQUEDUCT_AVX512)
#endif

/// Loops as they are.
template <class Loops>
struct Single : Loops {};
/// Loops over elements that are two of T each, which the operator combines each by itself.
template <class Loops>
struct Doubled {
  static void two(void* to, const void* left, const void* right, std::size_t count, void* context) noexcept {
    Loops::two(to, left, right, 2 * count, context);
  }
  static void four(void* to, const void* const* from, std::size_t count) noexcept {
    Loops::four(to, from, 2 * count);
  }
};

/// The loops of an operator for this processor.
template <class T, class Operator, template <class> class Elements = Single>
Combine loops_of(const Processor& processor) noexcept {
#if defined(__x86_64__)
  using Wide = Elements<Avx512Loops<T, Operator>>;
  using Usual = Elements<Avx2Loops<T, Operator>>;
  if (processor.avx512) return {Wide::two, Wide::four};
  if (processor.avx2) return {Usual::two, Usual::four};
  // For processors of before 2013 one loop of each operator is enough.
  return {Elements<PlainLoops<T, Operator>>::two, nullptr};
#else
  static_cast<void>(processor);
  using Plain = Elements<PlainLoops<T, Operator>>;
  return {Plain::two, Plain::four};
#endif
}

/// As loops_of, of two operands alone: for operators of which programs combine little.
template <class T, class Operator>
Combine pairs_of(const Processor& processor) noexcept {
#if defined(__x86_64__)
  if (processor.avx2) return {Avx2Loops<T, Operator>::two, nullptr};
#endif
  static_cast<void>(processor);
  return {PlainLoops<T, Operator>::two, nullptr};
}

}  // namespace aqueduct::kernels
