#include "kernels/reduce.hpp"

#include "kernels/reduce_parts.hpp"

#include <complex>

namespace aqueduct::kernels {

CombineFunction combine_of(ElementType type, ReduceOp op) noexcept {
  if (widening_of(type) != nullptr) type = ElementType::f32;
  // A type belongs to one of them.
  if (const CombineFunction found = combine_integers(type, op)) return found;
  if (const CombineFunction found = combine_floats(type, op)) return found;
  if (const CombineFunction found = combine_complex(type, op)) return found;
  return combine_indexed(type, op);
}

std::uint32_t element_bytes(ElementType type) noexcept {
  switch (type) {
    case ElementType::bytes: return 0;
    case ElementType::i8:
    case ElementType::u8: return 1;
    case ElementType::i16:
    case ElementType::u16: return 2;
    case ElementType::i32:
    case ElementType::u32: return 4;
    case ElementType::i64:
    case ElementType::u64: return 8;
    case ElementType::half: return sizeof(Half);
    case ElementType::bfloat16: return sizeof(Bfloat16);
    case ElementType::f32: return sizeof(float);
    case ElementType::f64: return sizeof(double);
    case ElementType::complex_f32: return sizeof(std::complex<float>);
    case ElementType::complex_f64: return sizeof(std::complex<double>);
    case ElementType::i32_index: return sizeof(WithIndex<std::int32_t>);
    case ElementType::i64_index: return sizeof(WithIndex<std::int64_t>);
    case ElementType::f32_index: return sizeof(WithIndex<float>);
    case ElementType::f64_index: return sizeof(WithIndex<double>);
  }
  return 0;
}

}  // namespace aqueduct::kernels
