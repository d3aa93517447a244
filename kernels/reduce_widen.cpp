#include "kernels/reduce.hpp"
#include "kernels/reduce_loop.hpp"

namespace aqueduct::kernels {
namespace {

Half narrow_one(float value, Half /*which*/) noexcept { return to_half(value); }
Bfloat16 narrow_one(float value, Bfloat16 /*which*/) noexcept { return to_bfloat16(value); }

template <class Narrow>
void widen_each(void* to, const void* from, std::size_t count) noexcept {
  AQUEDUCT_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) {
    set_element<float>(to, i, to_float(Narrow{element_at<std::uint16_t>(from, i)}));
  }
}
template <class Narrow>
void narrow_each(void* to, const void* from, std::size_t count) noexcept {
  AQUEDUCT_INDEPENDENT
  for (std::size_t i = 0; i < count; ++i) {
    set_element<std::uint16_t>(to, i, narrow_one(element_at<float>(from, i), Narrow{}).bits);
  }
}

constexpr Widening kHalf{widen_each<Half>, narrow_each<Half>, sizeof(float)};
constexpr Widening kBfloat16{widen_each<Bfloat16>, narrow_each<Bfloat16>, sizeof(float)};

}  // namespace

const Widening* widening_of(ElementType type) noexcept {
  if (type == ElementType::half) return &kHalf;
  if (type == ElementType::bfloat16) return &kBfloat16;
  return nullptr;
}

}  // namespace aqueduct::kernels
