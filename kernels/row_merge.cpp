#include "kernels/copy_piece.hpp"
#include "kernels/row_x86.hpp"

#if defined(__x86_64__)

#include "kernels/merged.hpp"

namespace aqueduct::kernels {

template <std::size_t kBytes>
[[gnu::target("avx2")]] void merge_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
                                       std::int64_t from_stride, std::uint64_t count) noexcept {
  using Vector = Merged<kBytes>;
  // A 32-byte element is a whole vector. Where its store would cross a cache line, two halves are faster.
  if (kBytes == 32 && reinterpret_cast<std::uintptr_t>(to) % 32 != 0) {
    return copy_row(FixedPiece<kBytes>{}, to, to_stride, from, from_stride, count);
  }
  for (; count >= Vector::kCount; count -= Vector::kCount) {
    store(to, Vector::at(from, from_stride));
    to += Vector::kCount * kBytes;
    from += Vector::kCount * from_stride;
  }
  copy_row(FixedPiece<kBytes>{}, to, to_stride, from, from_stride, count);
}

template void merge_row<1>(std::byte*, std::int64_t, const std::byte*, std::int64_t, std::uint64_t) noexcept;
template void merge_row<2>(std::byte*, std::int64_t, const std::byte*, std::int64_t, std::uint64_t) noexcept;
template void merge_row<4>(std::byte*, std::int64_t, const std::byte*, std::int64_t, std::uint64_t) noexcept;
template void merge_row<8>(std::byte*, std::int64_t, const std::byte*, std::int64_t, std::uint64_t) noexcept;
template void merge_row<32>(std::byte*, std::int64_t, const std::byte*, std::int64_t, std::uint64_t) noexcept;

}  // namespace aqueduct::kernels

#endif
