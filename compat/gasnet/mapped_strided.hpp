#pragma once

#include "compat/gasnet/mapped_pieces.hpp"

#include <cstddef>
#include <cstdint>

// Strided transfers to and from memory that is mapped here, copied by the layer: those of few elements.

namespace aqueduct::gasnet {

/// A strided transfer without the dimensions, from the fastest on, that are contiguous on both sides, and without the slowest
/// ones that have one element.
struct Merged {
  Merged(const std::ptrdiff_t* to, const std::ptrdiff_t* from, std::size_t element, const std::size_t* counts,
         std::size_t dimensions) noexcept
      : to_strides(to), from_strides(from), bytes(element), count(counts), levels(dimensions) {
    while (levels != 0 && (*count == 1 || (is_next(*to_strides) && is_next(*from_strides)))) {
      if (__builtin_mul_overflow(bytes, *count, &bytes)) is_too_large = true;
      ++to_strides, ++from_strides, ++count, --levels;
    }
    while (levels != 0 && count[levels - 1] == 1) --levels;
  }
  bool is_next(std::ptrdiff_t stride) const noexcept { return stride == static_cast<std::ptrdiff_t>(bytes); }
  /// Whether the layer copies the elements in less time than the library's plan takes: measured. By the loop of put_elements and
  /// get_elements, and by copy_pieces.
  bool suits_loop() const noexcept { return levels <= 2 && has_at_most(128); }
  bool has_few_elements() const noexcept { return has_at_most(12); }

  bool is_too_large = false;  ///< more bytes than there can be: the library refuses the call

  const std::ptrdiff_t* to_strides;
  const std::ptrdiff_t* from_strides;
  std::size_t bytes;  ///< of an element
  const std::size_t* count;
  std::size_t levels;

 private:
  bool has_at_most(std::size_t most) const noexcept {
    if (is_too_large) return false;
    std::size_t elements = 1;
    for (std::size_t i = 0; i < levels; ++i) {
      if (count[i] > most) return false;
      elements *= count[i];
      if (elements > most) return false;
    }
    return true;
  }
};

/// Where the first element of the peer's side is mapped here. Null: it is not, or (checked builds) not all elements are inside. Requires: no count of 0.
inline std::byte* find_elements(const MappedPart& part, const Merged& few, const std::ptrdiff_t* strides,
                                const void* base) noexcept {
  if (!MappedPart::kChecks) return part.find(base, few.bytes);
  std::uint64_t below = 0;
  std::uint64_t above = few.bytes;
  for (std::size_t level = 0; level < few.levels; ++level) {
    const bool down = strides[level] < 0;
    const auto stride = static_cast<std::uint64_t>(strides[level]);
    const std::uint64_t step = down ? -stride : stride;
    std::uint64_t reach = 0;
    std::uint64_t& side = down ? below : above;
    if (__builtin_mul_overflow(step, few.count[level] - 1, &reach) ||
        __builtin_add_overflow(side, reach, &side))
      return nullptr;
  }
  std::uint64_t span = 0;
  if (__builtin_add_overflow(below, above, &span)) return nullptr;
  std::byte* const lowest =
      part.find(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(base) - below), span);
  return lowest != nullptr ? lowest + below : nullptr;
}

/// Calls `copy(to, from)` for each element. Requires: at most two dimensions, and no count of 0.
template <class Copy>
void each_element(const Merged& few, std::byte* to, const std::byte* from, Copy copy) {
  if (few.levels == 0) return copy(to, from);
  // Not read again for each element: a copy might have changed them, as far as a compiler knows.
  const std::ptrdiff_t to_step = *few.to_strides;
  const std::ptrdiff_t from_step = *few.from_strides;
  const std::size_t columns = *few.count;
  const bool is_plane = few.levels > 1;
  const std::ptrdiff_t to_row = is_plane ? few.to_strides[1] : 0;
  const std::ptrdiff_t from_row = is_plane ? few.from_strides[1] : 0;
  for (std::size_t rows = is_plane ? few.count[1] : 1;;) {
    std::byte* target = to;
    const std::byte* source = from;
    for (std::size_t left = columns; left != 0; --left, target += to_step, source += from_step)
      copy(target, source);
    if (--rows == 0) return;
    to += to_row;
    from += from_row;
  }
}

/// As put_equal and get_equal. Requires: suits_loop, and no count of 0.
inline bool put_elements(const MappedPart& part, const Merged& few, void* to, const void* from) {
  if (from == nullptr) return false;
  std::byte* const there = find_elements(part, few, few.to_strides, to);
  if (there == nullptr) return false;
  const auto* const own = static_cast<const std::byte*>(from);
  if (few.bytes == 8)
    each_element(few, there, own, CopyWord<detail::put_bytes>{});
  else if (suits_memcpy(few.bytes))
    each_element(few, there, own, CopyByMemcpy{few.bytes});
  else
    each_element(few, there, own, CopyBytes<detail::put_bytes>{few.bytes});
  return true;
}
inline bool get_elements(const MappedPart& part, const Merged& few, void* to, const void* from) {
  if (to == nullptr) return false;
  const std::byte* const there = find_elements(part, few, few.from_strides, from);
  if (there == nullptr) return false;
  auto* const own = static_cast<std::byte*>(to);
  if (few.bytes == 8)
    each_element(few, own, there, CopyWord<detail::copy_bytes>{});
  else if (suits_memcpy(few.bytes))
    each_element(few, own, there, CopyByMemcpy{few.bytes});
  else
    each_element(few, own, there, CopyBytes<detail::copy_bytes>{few.bytes});
  return true;
}

}  // namespace aqueduct::gasnet
