#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace aqueduct::kernels {

struct FloatSum {
  template <class T>
  T operator()(T left, T right) const noexcept {
    return left + right;
  }
};
struct FloatProduct {
  template <class T>
  T operator()(T left, T right) const noexcept {
    return left * right;
  }
};

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
constexpr BitsOf<T> kNan = std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::quiet_NaN());

// Equal operands have the same bits, or are zeros: then the sign bit is all that differs. Operands of which neither is
// less nor equal have a NaN among them.
struct FloatMin {
  template <class T>
  T operator()(T left, T right) const noexcept {
    const auto l = std::bit_cast<BitsOf<T>>(left);
    const auto r = std::bit_cast<BitsOf<T>>(right);
    const BitsOf<T> same = left == right ? (l | r) : kNan<T>;
    const BitsOf<T> other = right < left ? r : same;
    return std::bit_cast<T>(left < right ? l : other);
  }
};
struct FloatMax {
  template <class T>
  T operator()(T left, T right) const noexcept {
    const auto l = std::bit_cast<BitsOf<T>>(left);
    const auto r = std::bit_cast<BitsOf<T>>(right);
    const BitsOf<T> same = left == right ? (l & r) : kNan<T>;
    const BitsOf<T> other = left < right ? r : same;
    return std::bit_cast<T>(right < left ? l : other);
  }
};

}  // namespace aqueduct::kernels
