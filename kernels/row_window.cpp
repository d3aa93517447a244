#include "kernels/row_x86.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>

namespace aqueduct::kernels {
namespace {

constexpr std::uint64_t kVector = 64;

/// A mask of the lowest `bytes` of 64 bytes.
std::uint64_t first(std::uint64_t bytes) noexcept {
  return bytes >= kVector ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes) - 1;
}

/// The numbers 0, 1, … 63 as 16-bit words, because there is no multiplication of bytes.
struct Words {
  __m512i low;
  __m512i high;
};
[[gnu::always_inline, gnu::target("avx512bw,avx512vbmi")]] inline Words places() noexcept {
  static constexpr auto kNumbers = [] {
    std::array<std::uint16_t, kVector> all{};
    for (std::size_t i = 0; i < kVector; ++i) all[i] = static_cast<std::uint16_t>(i);
    return all;
  }();
  return {_mm512_loadu_si512(kNumbers.data()), _mm512_loadu_si512(kNumbers.data() + kVector / 2)};
}

[[gnu::always_inline, gnu::target("avx512bw,avx512vbmi")]] inline __m512i bytes_of(__m512i low,
                                                                                   __m512i high) noexcept {
  constexpr __mmask32 kAll = ~__mmask32{0};  // without masks, g++ 12 warns about its own headers
  constexpr __mmask8 kAllWords = 0xff;
  const __m512i lower = _mm512_castsi256_si512(_mm512_maskz_cvtepi16_epi8(kAll, low));
  return _mm512_maskz_inserti64x4(kAllWords, lower, _mm512_maskz_cvtepi16_epi8(kAll, high), 1);
}

/// For each byte i of the packed elements: the position in the window from which it comes.
template <std::size_t kBytes>
[[gnu::always_inline, gnu::target("avx512bw,avx512vbmi")]] inline __m512i packing(
    std::uint64_t stride) noexcept {
  constexpr unsigned kShift = kBytes == 1 ? 0 : kBytes == 2 ? 1 : 2;
  const __m512i apart = _mm512_set1_epi16(static_cast<short>(stride));
  const __m512i inside = _mm512_set1_epi16(kBytes - 1);
  const Words place = places();
  const __m512i low = _mm512_add_epi16(_mm512_mullo_epi16(_mm512_srli_epi16(place.low, kShift), apart),
                                       _mm512_and_si512(place.low, inside));
  const __m512i high = _mm512_add_epi16(_mm512_mullo_epi16(_mm512_srli_epi16(place.high, kShift), apart),
                                        _mm512_and_si512(place.high, inside));
  return bytes_of(low, high);
}

/// For each byte i of a window: the packed byte that goes there, and whether there is one.
struct Unpacking {
  __m512i chosen;          ///< index of the packed byte
  std::uint64_t elements;  ///< mask of the bytes that belong to elements
};
template <std::size_t kBytes>
[[gnu::always_inline, gnu::target("avx512bw,avx512vbmi")]] inline Unpacking unpacking(
    std::uint64_t stride) noexcept {
  const __m512i apart = _mm512_set1_epi16(static_cast<short>(stride));
  // Multiplication by this, shifted by 16 bits, divides numbers below 64 by the stride.
  const __m512i part = _mm512_set1_epi16(static_cast<short>(65535 / stride + 1));
  const __m512i size = _mm512_set1_epi16(kBytes);
  const Words place = places();
  const __m512i low = _mm512_mulhi_epu16(place.low, part);
  const __m512i high = _mm512_mulhi_epu16(place.high, part);
  const __m512i low_rest = _mm512_sub_epi16(place.low, _mm512_mullo_epi16(low, apart));
  const __m512i high_rest = _mm512_sub_epi16(place.high, _mm512_mullo_epi16(high, apart));
  const std::uint64_t elements = _mm512_cmplt_epu16_mask(low_rest, size) |
                                 static_cast<std::uint64_t>(_mm512_cmplt_epu16_mask(high_rest, size)) << 32;
  return {bytes_of(_mm512_add_epi16(_mm512_mullo_epi16(low, size), low_rest),
                   _mm512_add_epi16(_mm512_mullo_epi16(high, size), high_rest)),
          elements};
}

}  // namespace

template <std::size_t kBytes>
[[gnu::target("avx512bw,avx512vbmi")]] void pack_windows(std::byte* to, std::int64_t /*to_stride*/,
                                                         const std::byte* from, std::int64_t from_stride,
                                                         std::uint64_t count) noexcept {
  constexpr std::uint64_t kWindow = 2 * kVector;
  const auto stride = static_cast<std::uint64_t>(from_stride);
  const std::uint64_t in_window = std::min((kWindow - kBytes) / stride + 1, kVector / kBytes);
  const __m512i chosen = packing<kBytes>(stride);
  const std::uint64_t made = in_window * kBytes;
  const __mmask64 wanted = first(made);
  const std::uint64_t step = in_window * stride;
  std::uint64_t reach = (count - 1) * stride + kBytes;  // bytes from the next element to the end of the last
  for (; count > in_window && reach >= kWindow; count -= in_window, reach -= step) {
    const __m512i low = _mm512_loadu_si512(from);
    const __m512i high = _mm512_loadu_si512(from + kVector);
    _mm512_mask_storeu_epi8(to, wanted, _mm512_permutex2var_epi8(low, chosen, high));
    to += made;
    from += step;
  }
  for (; count != 0; reach -= step) {  // masked loads: nothing behind the last element is read
    const std::uint64_t now = std::min(count, in_window);
    const __m512i low = _mm512_maskz_loadu_epi8(first(reach), from);
    const __m512i high = _mm512_maskz_loadu_epi8(first(reach - std::min(reach, kVector)), from + kVector);
    _mm512_mask_storeu_epi8(to, first(now * kBytes), _mm512_permutex2var_epi8(low, chosen, high));
    to += now * kBytes;
    from += step;
    count -= now;
  }
}

template <std::size_t kBytes>
[[gnu::target("avx512bw,avx512vbmi")]] void unpack_windows(std::byte* to, std::int64_t to_stride,
                                                           const std::byte* from,
                                                           std::int64_t /*from_stride*/,
                                                           std::uint64_t count) noexcept {
  const auto stride = static_cast<std::uint64_t>(to_stride);
  const std::uint64_t in_window = (kVector - kBytes) / stride + 1;
  const Unpacking unpack = unpacking<kBytes>(stride);
  const __mmask64 whole = unpack.elements & first((in_window - 1) * stride + kBytes);
  for (; count > in_window && count * kBytes >= kVector; count -= in_window) {
    _mm512_mask_storeu_epi8(to, whole,
                            _mm512_maskz_permutexvar_epi8(whole, unpack.chosen, _mm512_loadu_si512(from)));
    to += in_window * stride;
    from += in_window * kBytes;
  }
  while (count != 0) {  // masked: nothing behind the last element is read or written
    const std::uint64_t now = std::min(count, in_window);
    const __m512i some = _mm512_maskz_loadu_epi8(first(now * kBytes), from);
    const __mmask64 wanted = unpack.elements & first((now - 1) * stride + kBytes);
    _mm512_mask_storeu_epi8(to, wanted, _mm512_maskz_permutexvar_epi8(wanted, unpack.chosen, some));
    to += now * stride;
    from += now * kBytes;
    count -= now;
  }
}

template void pack_windows<1>(std::byte*, std::int64_t, const std::byte*, std::int64_t,
                              std::uint64_t) noexcept;
template void pack_windows<2>(std::byte*, std::int64_t, const std::byte*, std::int64_t,
                              std::uint64_t) noexcept;
template void pack_windows<4>(std::byte*, std::int64_t, const std::byte*, std::int64_t,
                              std::uint64_t) noexcept;
template void unpack_windows<1>(std::byte*, std::int64_t, const std::byte*, std::int64_t,
                                std::uint64_t) noexcept;
template void unpack_windows<2>(std::byte*, std::int64_t, const std::byte*, std::int64_t,
                                std::uint64_t) noexcept;
template void unpack_windows<4>(std::byte*, std::int64_t, const std::byte*, std::int64_t,
                                std::uint64_t) noexcept;

}  // namespace aqueduct::kernels

#endif
