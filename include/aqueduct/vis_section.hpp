#pragma once

#include <aqueduct/vis_shapes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace aqueduct {

/// A row-major array of N dimensions; the last dimension is contiguous. `Base` is T* or GlobalPtr<T>. 16 + 8 N bytes.
template <class Base, std::size_t N>
struct ArrayView {
  Base base;
  std::array<std::int64_t, N> extents;
};

/// Makes an ArrayView: `view(pointer, {nz, ny, nx})`.
template <class Base, std::size_t N>
ArrayView<Base, N> view(Base base, const std::int64_t (&extents)[N]) noexcept {
  ArrayView<Base, N> made{base, {}};
  for (std::size_t i = 0; i < N; ++i) made.extents[i] = extents[i];
  return made;
}

/// The indices lo, lo + step, … that are below hi. With a negative step: those that are above hi.
struct Slice {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  std::int64_t step = 1;
};

namespace detail {

template <class T>
constexpr std::size_t element_bytes(T*) noexcept {
  return sizeof(T);
}
template <class T>
constexpr std::size_t element_bytes(GlobalPtr<T>) noexcept {
  return sizeof(T);
}

/// The number of indices in a slice; -1 if one is outside [0, extent), or if the step is 0.
constexpr std::int64_t indices(const Slice& slice, std::int64_t extent) noexcept {
  if (slice.step == 0 || slice.step == INT64_MIN || extent < 0) return -1;
  const bool up = slice.step > 0;
  if (up ? slice.lo >= slice.hi : slice.lo <= slice.hi) return 0;
  if (slice.lo < 0 || slice.lo >= extent || (up ? slice.hi > extent : slice.hi < -1)) return -1;
  const std::int64_t length = up ? slice.hi - slice.lo : slice.lo - slice.hi;
  const std::int64_t step = up ? slice.step : -slice.step;
  return (length - 1) / step + 1;
}

}  // namespace detail

/// A section of an array: one slice for each dimension, in the order of the dimensions.
///
/// Shape:  local for an array at a T*, remote for one at a GlobalPtr<T>. Slices without an index are legal.
/// Errors: a slice outside its extent, or with step 0, makes the operation that uses the section return out_of_range.
template <class Base, std::size_t N>
detail::PiecesAt<Base> section(const ArrayView<Base, N>& array, const Slice (&slices)[N]) noexcept {
  static_assert(N <= kMostDimensions, "an array section has at most 16 dimensions");
  constexpr std::size_t kBytes = detail::element_bytes(Base{});
  detail::Shape shape;
  shape.bytes = kBytes;
  shape.dimensions = N;
  std::int64_t first = 0;
  std::int64_t stride = kBytes;  // of the array; may wrap: a wrong extent is found below or by the operation
  for (std::size_t i = N; i-- > 0;) {
    const std::int64_t count = detail::indices(slices[i], array.extents[i]);
    const Slice& slice = slices[i];
    const bool any = count != 0;  // what a slice without an index names besides means nothing
    std::int64_t step = 0;
    std::int64_t skip = 0;
    if (count < 0 || __builtin_mul_overflow(stride, any ? slice.step : 0, &step) ||
        __builtin_mul_overflow(stride, any ? slice.lo : 0, &skip) ||
        __builtin_add_overflow(first, skip, &first) ||
        __builtin_mul_overflow(stride, array.extents[i], &stride)) {
      shape.problem = ErrorCode::out_of_range;
      break;
    }
    shape.dims[i] = {static_cast<std::uint64_t>(count), step};
  }
  shape.base = static_cast<std::uint64_t>(first);
  return {detail::bytes_at(array.base), shape};
}

}  // namespace aqueduct
