#pragma once

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

/// A CombineFunction that applies Operator, a function of two T, to each pair of elements.
template <class T, class Operator>
void combine_each(void* to, const void* left, const void* right, std::size_t count,
                  void* /*context*/) noexcept {
  AQUEDUCT_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) {
    set_element<T>(to, i, Operator{}(element_at<T>(left, i), element_at<T>(right, i)));
  }
}

}  // namespace aqueduct::kernels
