#include "kernels/reduce_loop.hpp"
#include "kernels/reduce_parts.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace aqueduct::kernels {
namespace {

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

template <class T>
CombineFunction float_function(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::sum: return combine_each<T, FloatSum>;
    case ReduceOp::product: return combine_each<T, FloatProduct>;
    case ReduceOp::min: return combine_each<T, FloatMin>;
    case ReduceOp::max: return combine_each<T, FloatMax>;
    default: return nullptr;
  }
}

}  // namespace

CombineFunction combine_floats(ElementType type, ReduceOp op) noexcept {
  switch (type) {
    case ElementType::f32: return float_function<float>(op);
    case ElementType::f64: return float_function<double>(op);
    default: return nullptr;
  }
}

}  // namespace aqueduct::kernels
