#include "kernels/reduce_loop.hpp"
#include "kernels/reduce_parts.hpp"

#include <cstdint>
#include <type_traits>

namespace aqueduct::kernels {
namespace {

template <class T>
constexpr bool is_nan(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) return value != value;
  return false;
}

/// Whether `left` goes into the result. Both zeros are equal values, and so are all NaNs.
template <class T, bool kGreatest>
bool left_wins(const WithIndex<T>& left, const WithIndex<T>& right) noexcept {
  const bool left_nan = is_nan(left.value);
  const bool right_nan = is_nan(right.value);
  const bool ahead = kGreatest ? right.value < left.value : left.value < right.value;
  const bool same = left.value == right.value || (left_nan && right_nan);
  return ahead || (left_nan && !right_nan) || (same && left.index <= right.index);
}

/// Value and index are copied by themselves: bytes between them belong to nobody.
template <class T>
WithIndex<T> indexed_at(const void* array, std::size_t i) noexcept {
  const std::byte* const from = static_cast<const std::byte*>(array) + i * sizeof(WithIndex<T>);
  WithIndex<T> element;
  std::memcpy(&element.value, from + offsetof(WithIndex<T>, value), sizeof element.value);
  std::memcpy(&element.index, from + offsetof(WithIndex<T>, index), sizeof element.index);
  return element;
}
template <class T>
void set_indexed(void* array, std::size_t i, const WithIndex<T>& element) noexcept {
  std::byte* const to = static_cast<std::byte*>(array) + i * sizeof(WithIndex<T>);
  std::memcpy(to + offsetof(WithIndex<T>, value), &element.value, sizeof element.value);
  std::memcpy(to + offsetof(WithIndex<T>, index), &element.index, sizeof element.index);
}

template <class T, bool kGreatest>
void combine_indexed_each(void* to, const void* left, const void* right, std::size_t count,
                          void* /*context*/) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const WithIndex<T> l = indexed_at<T>(left, i);
    const WithIndex<T> r = indexed_at<T>(right, i);
    set_indexed<T>(to, i, left_wins<T, kGreatest>(l, r) ? l : r);
  }
}

template <class T>
Combine indexed_loops(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::min_index: return {combine_indexed_each<T, false>, nullptr};
    case ReduceOp::max_index: return {combine_indexed_each<T, true>, nullptr};
    default: return {};
  }
}

}  // namespace

Combine combine_indexed(ElementType type, ReduceOp op) noexcept {
  switch (type) {
    case ElementType::i32_index: return indexed_loops<std::int32_t>(op);
    case ElementType::i64_index: return indexed_loops<std::int64_t>(op);
    case ElementType::f32_index: return indexed_loops<float>(op);
    case ElementType::f64_index: return indexed_loops<double>(op);
    default: return {};
  }
}

}  // namespace aqueduct::kernels
