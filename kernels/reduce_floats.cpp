#include "kernels/reduce_float_operators.hpp"
#include "kernels/reduce_loop.hpp"
#include "kernels/reduce_parts.hpp"

namespace aqueduct::kernels {
namespace {

template <class T>
Combine float_loops(ReduceOp op, const Processor& processor) noexcept {
  switch (op) {
    case ReduceOp::sum: return loops_of<T, FloatSum>(processor);
    case ReduceOp::product: return loops_of<T, FloatProduct>(processor);
    case ReduceOp::min: return loops_of<T, FloatMin>(processor);
    case ReduceOp::max: return loops_of<T, FloatMax>(processor);
    default: return {};
  }
}

}  // namespace

Combine combine_floats(ElementType type, ReduceOp op, const Processor& processor) noexcept {
  switch (type) {
    case ElementType::f32: return float_loops<float>(op, processor);
    case ElementType::f64: return float_loops<double>(op, processor);
    default: return {};
  }
}

}  // namespace aqueduct::kernels
