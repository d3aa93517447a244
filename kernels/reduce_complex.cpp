#include "kernels/reduce_float_operators.hpp"
#include "kernels/reduce_loop.hpp"
#include "kernels/reduce_parts.hpp"

namespace aqueduct::kernels {
namespace {

// A complex number is an array of two T, the real part first ([complex.numbers]).

/// (a + bi)(c + di) = (ac - bd) + (ad + bc)i, as it stands. std::complex also repairs products of infinities that this
/// turns into NaN, by a call for each of them.
template <class T>
void complex_product(void* to, const void* left, const void* right, std::size_t count,
                     void* /*context*/) noexcept {
  AQUEDUCT_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) {
    const T a = element_at<T>(left, 2 * i);
    const T b = element_at<T>(left, 2 * i + 1);
    const T c = element_at<T>(right, 2 * i);
    const T d = element_at<T>(right, 2 * i + 1);
    set_element<T>(to, 2 * i, a * c - b * d);
    set_element<T>(to, 2 * i + 1, a * d + b * c);
  }
}

template <class T>
Combine complex_loops(ReduceOp op, const Processor& processor) noexcept {
  switch (op) {
    case ReduceOp::sum: return loops_of<T, FloatSum, Doubled>(processor);
    case ReduceOp::product: return {complex_product<T>, nullptr};
    default: return {};
  }
}

}  // namespace

Combine combine_complex(ElementType type, ReduceOp op, const Processor& processor) noexcept {
  switch (type) {
    case ElementType::complex_f32: return complex_loops<float>(op, processor);
    case ElementType::complex_f64: return complex_loops<double>(op, processor);
    default: return {};
  }
}

}  // namespace aqueduct::kernels
