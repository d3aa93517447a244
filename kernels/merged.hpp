#pragma once

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace aqueduct::kernels {

/// Collects elements that lie `stride` bytes apart into a vector. It loads each element by itself: the gather
/// instructions take twice as long on Zen 4, and are not faster anywhere.
template <std::size_t kBytes>
struct Merged;

template <class T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <>
struct Merged<1> {
  static constexpr int kCount = 16;
  template <int kNext = 0>
  [[gnu::always_inline, gnu::target("avx2")]] static __m128i at(const std::byte* from, std::int64_t stride,
                                                                __m128i sofar = __m128i{}) noexcept {
    if constexpr (kNext == kCount) {
      return sofar;
    } else {
      sofar = _mm_insert_epi8(sofar, std::to_integer<int>(*from), kNext);
      return at<kNext + 1>(from + (kNext + 1 < kCount ? stride : 0), stride, sofar);
    }
  }
};

template <>
struct Merged<2> {
  static constexpr int kCount = 8;
  template <int kNext = 0>
  [[gnu::always_inline, gnu::target("avx2")]] static __m128i at(const std::byte* from, std::int64_t stride,
                                                                __m128i sofar = __m128i{}) noexcept {
    if constexpr (kNext == kCount) {
      return sofar;
    } else {
      sofar = _mm_insert_epi16(sofar, load<std::int16_t>(from), kNext);
      return at<kNext + 1>(from + (kNext + 1 < kCount ? stride : 0), stride, sofar);
    }
  }
};

template <>
struct Merged<4> {
  static constexpr int kCount = 4;
  [[gnu::always_inline, gnu::target("avx2")]] static __m128i at(const std::byte* from,
                                                                std::int64_t stride) noexcept {
    return _mm_unpacklo_epi64(two(from, stride), two(from + 2 * stride, stride));
  }

 private:
  [[gnu::always_inline, gnu::target("avx2")]] static __m128i two(const std::byte* from,
                                                                 std::int64_t stride) noexcept {
    return _mm_insert_epi32(_mm_cvtsi32_si128(load<std::int32_t>(from)), load<std::int32_t>(from + stride),
                            1);
  }
};

template <>
struct Merged<8> {
  static constexpr int kCount = 4;
  [[gnu::always_inline, gnu::target("avx2")]] static __m256i at(const std::byte* from,
                                                                std::int64_t stride) noexcept {
    const std::byte* const upper = from + 2 * stride;
    const __m128d low = _mm_set_pd(load<double>(from + stride), load<double>(from));
    const __m128d high = _mm_set_pd(load<double>(upper + stride), load<double>(upper));
    return _mm256_castpd_si256(_mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1));
  }
};

template <>
struct Merged<16> {
  static constexpr int kCount = 1;
  [[gnu::always_inline]] static __m128i at(const std::byte* from, std::int64_t /*stride*/) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(from));
  }
};

template <>
struct Merged<32> {
  static constexpr int kCount = 1;
  [[gnu::always_inline, gnu::target("avx2")]] static __m256i at(const std::byte* from,
                                                                std::int64_t /*stride*/) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from));
  }
};

[[gnu::always_inline]] inline void store(std::byte* to, __m128i value) noexcept {
  _mm_storeu_si128(reinterpret_cast<__m128i_u*>(to), value);
}
[[gnu::always_inline, gnu::target("avx2")]] inline void store(std::byte* to, __m256i value) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to), value);
}

/// Stores past the caches. Requires: `to` is aligned to the size of the vector.
[[gnu::always_inline]] inline void stream(std::byte* to, __m128i value) noexcept {
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), value);
}
[[gnu::always_inline, gnu::target("avx2")]] inline void stream(std::byte* to, __m256i value) noexcept {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), value);
}

}  // namespace aqueduct::kernels

#endif
