#include "kernels/row_x86.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

namespace aqueduct::kernels {

template <std::size_t kBytes>
[[gnu::target("avx512f")]] void wide_row(std::byte* to, std::int64_t to_stride, const std::byte* from,
                                         std::int64_t from_stride, std::uint64_t count) noexcept {
  constexpr std::size_t kVector = sizeof(__m512i);
  static_assert(kBytes % (4 * kVector) == 0);
  for (; count != 0; --count, to += to_stride, from += from_stride) {
    for (std::size_t at = 0; at < kBytes; at += 4 * kVector) {
      const __m512i a = _mm512_loadu_si512(from + at);
      const __m512i b = _mm512_loadu_si512(from + at + kVector);
      const __m512i c = _mm512_loadu_si512(from + at + 2 * kVector);
      const __m512i d = _mm512_loadu_si512(from + at + 3 * kVector);
      _mm512_storeu_si512(to + at, a);
      _mm512_storeu_si512(to + at + kVector, b);
      _mm512_storeu_si512(to + at + 2 * kVector, c);
      _mm512_storeu_si512(to + at + 3 * kVector, d);
    }
  }
}

template void wide_row<256>(std::byte*, std::int64_t, const std::byte*, std::int64_t, std::uint64_t) noexcept;
template void wide_row<512>(std::byte*, std::int64_t, const std::byte*, std::int64_t, std::uint64_t) noexcept;

}  // namespace aqueduct::kernels

#endif
