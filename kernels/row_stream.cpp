#include "kernels/copy_piece.hpp"
#include "kernels/row_x86.hpp"

#if defined(__x86_64__)

#include "kernels/merged.hpp"

#include <algorithm>

namespace aqueduct::kernels {

template <std::size_t kBytes>
[[gnu::target("avx2")]] void stream_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
                                        std::int64_t from_stride, std::uint64_t count) noexcept {
  using Vector = Merged<kBytes>;
  constexpr std::size_t kVector = kBytes == 16 ? 16 : 32;
  // Copy ordinary elements up to a multiple of the vector's size; if elements do not end there, streaming is
  // impossible. A cache line that is only partly streamed costs more, but there are at most two of them.
  const std::size_t missing = -reinterpret_cast<std::uintptr_t>(to) % kVector;
  if (missing % kBytes != 0) return copy_row(FixedPiece<kBytes>{}, to, to_stride, from, from_stride, count);
  const std::uint64_t before = std::min<std::uint64_t>(missing / kBytes, count);
  copy_row(FixedPiece<kBytes>{}, to, to_stride, from, from_stride, before);
  to += before * kBytes;
  from += static_cast<std::int64_t>(before) * from_stride;
  count -= before;
  for (; count >= Vector::kCount; count -= Vector::kCount) {
    stream(to, Vector::at(from, from_stride));
    to += Vector::kCount * kBytes;
    from += Vector::kCount * from_stride;
  }
  _mm_sfence();  // streaming stores are not ordered with other stores
  copy_row(FixedPiece<kBytes>{}, to, to_stride, from, from_stride, count);
}

template void stream_row<8>(std::byte*, std::int64_t, const std::byte*, std::int64_t, std::uint64_t) noexcept;
template void stream_row<16>(std::byte*, std::int64_t, const std::byte*, std::int64_t,
                             std::uint64_t) noexcept;
template void stream_row<32>(std::byte*, std::int64_t, const std::byte*, std::int64_t,
                             std::uint64_t) noexcept;

}  // namespace aqueduct::kernels

#endif
