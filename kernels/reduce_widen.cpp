#include "kernels/reduce.hpp"
#include "kernels/reduce_float_operators.hpp"
#include "kernels/reduce_loop.hpp"

namespace aqueduct::kernels {
namespace {

Half narrow_one(float value, Half /*which*/) noexcept { return to_half(value); }
Bfloat16 narrow_one(float value, Bfloat16 /*which*/) noexcept { return to_bfloat16(value); }

// The loops of a half type for one instruction set, as AQUEDUCT_REDUCE_LOOPS.
#define AQUEDUCT_HALF_LOOPS(NAME, TARGET)                                                         \
  template <class Narrow>                                                                         \
  struct NAME {                                                                                   \
    TARGET static void widen(void* to, const void* from, std::size_t count) noexcept {            \
      AQUEDUCT_INDEPENDENT                                                                        \
      for (std::size_t i = 0; i < count; ++i) {                                                   \
        set_element<float>(to, i, to_float(Narrow{element_at<std::uint16_t>(from, i)}));          \
      }                                                                                           \
    }                                                                                             \
    TARGET static void narrow(void* to, const void* from, std::size_t count) noexcept {           \
      AQUEDUCT_INDEPENDENT                                                                        \
      for (std::size_t i = 0; i < count; ++i) {                                                   \
        set_element<std::uint16_t>(to, i, narrow_one(element_at<float>(from, i), Narrow{}).bits); \
      }                                                                                           \
    }                                                                                             \
    template <class Operator>                                                                     \
    TARGET static void next(float* sum, const void* from, std::size_t count) noexcept {           \
      AQUEDUCT_INDEPENDENT                                                                        \
      for (std::size_t i = 0; i < count; ++i) {                                                   \
        sum[i] = Operator{}(sum[i], to_float(Narrow{element_at<std::uint16_t>(from, i)}));        \
      }                                                                                           \
    }                                                                                             \
  };
AQUEDUCT_HALF_LOOPS(PlainHalves, )
#if defined(__x86_64__)
AQUEDUCT_HALF_LOOPS(Avx2Halves, AQUEDUCT_AVX2)
AQUEDUCT_HALF_LOOPS(Avx512Halves, AQUEDUCT_AVX512)
#endif

template <class Loops>
HalfFold fold_with(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::sum: return {Loops::widen, Loops::template next<FloatSum>, Loops::narrow};
    case ReduceOp::product: return {Loops::widen, Loops::template next<FloatProduct>, Loops::narrow};
    case ReduceOp::min: return {Loops::widen, Loops::template next<FloatMin>, Loops::narrow};
    case ReduceOp::max: return {Loops::widen, Loops::template next<FloatMax>, Loops::narrow};
    default: return {};
  }
}

template <class Narrow>
HalfFold fold_for(ReduceOp op, const Processor& processor) noexcept {
#if defined(__x86_64__)
  if (processor.avx512) return fold_with<Avx512Halves<Narrow>>(op);
  if (processor.avx2) return fold_with<Avx2Halves<Narrow>>(op);
#endif
  static_cast<void>(processor);
  return fold_with<PlainHalves<Narrow>>(op);
}

template <class Loops>
constexpr Widening kWith{Loops::widen, Loops::narrow, sizeof(float)};

template <class Narrow>
const Widening* widening_for(const Processor& processor) noexcept {
#if defined(__x86_64__)
  if (processor.avx512) return &kWith<Avx512Halves<Narrow>>;
  if (processor.avx2) return &kWith<Avx2Halves<Narrow>>;
#endif
  static_cast<void>(processor);
  return &kWith<PlainHalves<Narrow>>;
}

}  // namespace

const Widening* widening_of(ElementType type, const Processor& processor) noexcept {
  if (type == ElementType::half) return widening_for<Half>(processor);
  if (type == ElementType::bfloat16) return widening_for<Bfloat16>(processor);
  return nullptr;
}

HalfFold half_fold(ElementType type, ReduceOp op, const Processor& processor) noexcept {
  if (type == ElementType::half) return fold_for<Half>(op, processor);
  if (type == ElementType::bfloat16) return fold_for<Bfloat16>(op, processor);
  return {};
}

}  // namespace aqueduct::kernels
