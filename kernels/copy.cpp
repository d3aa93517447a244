#include <aqueduct/copy_bytes.hpp>

#include "kernels/quicker_way.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace aqueduct::detail {
namespace {

#if defined(__x86_64__)
// For 1 KiB the C library takes some 10.5 ns and this 9.3, measured on Zen 4. From 2112 bytes on the C library uses `rep movsb`,
// whose start-up waits for the addresses and takes a tenth of the time: 42 ns for 4 KiB against 35 ns here. Beyond 12 KiB `rep
// movsb` makes up for its start-up there. Processors before the fast short form of it are slower with it as long as both blocks
// are in the second cache: measured on Cascade Lake, where it has 1 MiB, 26 us for 256 KiB that another core has read, against
// 17 us here. Requires: bytes >= 32.
[[gnu::target("avx2")]] void copy_by_vectors(std::byte* to, const std::byte* from,
                                             std::size_t bytes) noexcept {
  constexpr std::size_t kVector = sizeof(__m256i);
  const auto* in = reinterpret_cast<const __m256i_u*>(from);
  auto* out = reinterpret_cast<__m256i_u*>(to);
  // The last vector may overlap the one before it, and `to` may equal `from`. So the last vector is read before
  // anything is written.
  const __m256i last = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from + bytes - kVector));
  std::size_t left = bytes / kVector;
  for (; left >= 4; left -= 4, in += 4, out += 4) {
    const __m256i a = _mm256_loadu_si256(in);
    const __m256i b = _mm256_loadu_si256(in + 1);
    const __m256i c = _mm256_loadu_si256(in + 2);
    const __m256i d = _mm256_loadu_si256(in + 3);
    _mm256_storeu_si256(out, a);
    _mm256_storeu_si256(out + 1, b);
    _mm256_storeu_si256(out + 2, c);
    _mm256_storeu_si256(out + 3, d);
  }
  for (; left != 0; --left, ++in, ++out) _mm256_storeu_si256(out, _mm256_loadu_si256(in));
  _mm256_storeu_si256(reinterpret_cast<__m256i_u*>(to + bytes - kVector), last);
}

// With vectors of a whole line, which begin where the target's lines do. Measured on Zen 5 with both blocks in the first cache:
// 16 ns for 4 KiB (22 with vectors of half a line, 29 with the C library), 62 for 16 KiB (98 and 102). In the second cache
// all take about as long. Requires: bytes >= 64.
[[gnu::target("avx512f")]] void copy_by_lines(std::byte* to, const std::byte* from,
                                              std::size_t bytes) noexcept {
  constexpr std::size_t kLine = sizeof(__m512i);
  // As above: `to` may equal `from`.
  const __m512i first = _mm512_loadu_si512(from);
  const __m512i last = _mm512_loadu_si512(from + bytes - kLine);
  const std::size_t head = (0 - reinterpret_cast<std::uintptr_t>(to)) % kLine;
  const std::byte* in = from + head;
  std::byte* out = to + head;
  std::size_t left = (bytes - head) / kLine;
  for (; left >= 4; left -= 4, in += 4 * kLine, out += 4 * kLine) {
    const __m512i a = _mm512_loadu_si512(in);
    const __m512i b = _mm512_loadu_si512(in + kLine);
    const __m512i c = _mm512_loadu_si512(in + 2 * kLine);
    const __m512i d = _mm512_loadu_si512(in + 3 * kLine);
    _mm512_store_si512(out, a);
    _mm512_store_si512(out + kLine, b);
    _mm512_store_si512(out + 2 * kLine, c);
    _mm512_store_si512(out + 3 * kLine, d);
  }
  for (; left != 0; --left, in += kLine, out += kLine) _mm512_store_si512(out, _mm512_loadu_si512(in));
  _mm512_storeu_si512(to, first);
  _mm512_storeu_si512(to + bytes - kLine, last);
}

// From the size of the second cache on the C library uses vectors again. Measured on Zen 5, 1 MiB: 18 us, and this 15.5; 2 MiB: 40
// and 35; 4 MiB: 69 and 66.
//
// Where another processor has read the target's lines, each store of a vector waits until that one has given the line up, one
// after the other; this asks for whole lines, many at a time. Measured on Zen 5, far cores, by a ring of eight blocks that the
// other processor copies out: 16 KiB 2900 ns by vectors and 590 so; 4 KiB 860 and 255; 2 KiB 830 and 165; 1 KiB as long. Near
// cores: 415 and 240, 127 and 86, 77 and 36, 47 and 36. A target that nobody reads pays for it: 2 KiB take 18.5 ns, and 11 by
// vectors; 1 KiB 16.5 and 6, so 1 KiB goes by vectors.
void copy_by_rep(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSeesAll = true;
#else
constexpr bool kSeesAll = kThreadSanitizer;  ///< a sanitizer must see what is copied
#endif

/// How this processor copies best.
struct Ways {
  std::size_t most_by_vectors = 0;
  bool by_lines = false;  ///< those; of a whole line each
  bool by_rep = false;    ///< more than kLeastByRep bytes
  std::size_t least_written_by_rep = SIZE_MAX;
  std::size_t least_written_by_library = SIZE_MAX;
};
constexpr std::size_t kLeastByRep = 524288;
constexpr std::size_t kLeastWrittenByRep = kSeesAll ? SIZE_MAX : 1025;

Ways ways_here() noexcept {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") == 0) return {};
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool has_fast_short_rep = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & 1u << 4) != 0;
  if (!has_fast_short_rep) return {262144, false, false, SIZE_MAX};
  // The family is the sum of two fields if the first one is full. Zen 5 is 26.
  const bool is_amd = __builtin_cpu_is("amd") != 0;
  const bool has_signature = __get_cpuid(1, &a, &b, &c, &d) != 0;
  const unsigned family = (a >> 8 & 15u) == 15 ? 15 + (a >> 20 & 255u) : a >> 8 & 15u;
  if (is_amd && has_signature && family >= 26 && __builtin_cpu_supports("avx512f") != 0)
    return {16384, true, !kSeesAll, kLeastWrittenByRep};
  // Not measured on others: the C library knows where they are slow with `rep movsb` (Zen 4: addresses that are alike modulo 4 KiB).
  return {12288, false, false, SIZE_MAX, 2112};
}
const Ways kWays = ways_here();  // none until the library is loaded
const std::size_t kLeastLearned = std::min(kWays.least_written_by_rep, kWays.least_written_by_library);

/// Of puts whose ways differ: of up to 2, 4, 8 and 16 KiB.
constexpr std::size_t kMostLearned = 16384;
[[gnu::tls_model("initial-exec")]] constinit thread_local std::array<QuickerWay, 4> quicker_puts;

QuickerWay& quicker_put_of(std::size_t bytes) noexcept {
  return quicker_puts[static_cast<std::size_t>(std::bit_width(bytes - 1) - 11)];
}

/// With the time until other processors can read all of it, as stores wait behind the copy for the lines of others.
[[gnu::noinline]] void put_timed(QuickerWay& quicker, std::byte* to, const std::byte* from,
                                 std::size_t bytes) noexcept {
  // Chosen: an interrupt takes longer. Measured on Zen 5: a line that another processor has read takes some 110 cycles, or 2 a byte.
  const auto most = static_cast<std::uint32_t>(512 + bytes * 2);
  _mm_mfence();
  _mm_lfence();
  const std::uint64_t begin = __rdtsc();
  if (quicker.timed_way() == QuickerWay::usual)
    write_middling(to, from, bytes);
  else
    copy_middling(to, from, bytes);
  _mm_mfence();
  _mm_lfence();
  const std::uint64_t took = __rdtsc() - begin;
  quicker.took(static_cast<std::uint32_t>(std::min<std::uint64_t>(took, most)), most);
}
#endif

}  // namespace

void copy_middling(std::byte* to, const void* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  const auto* const in = static_cast<const std::byte*>(from);
  if (bytes <= kWays.most_by_vectors)
    return kWays.by_lines ? copy_by_lines(to, in, bytes) : copy_by_vectors(to, in, bytes);
  if (kWays.by_rep && bytes > kLeastByRep && bytes <= kMostMiddling) return copy_by_rep(to, in, bytes);
#endif
  std::memcpy(to, from, bytes);
}

void write_middling(std::byte* to, const void* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  if (bytes >= kWays.least_written_by_rep && bytes <= kMostMiddling)
    return copy_by_rep(to, static_cast<const std::byte*>(from), bytes);
  if (bytes >= kWays.least_written_by_library) {
    std::memcpy(to, from, bytes);
    return;
  }
#endif
  copy_middling(to, from, bytes);
}

void put_middling(std::byte* to, const void* from, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  if (bytes >= kLeastLearned && bytes <= kWays.most_by_vectors && bytes <= kMostLearned) {
    const auto* const in = static_cast<const std::byte*>(from);
    QuickerWay& quicker = quicker_put_of(bytes);
    if (quicker.is_timed()) [[unlikely]]
      return put_timed(quicker, to, in, bytes);
    if (quicker.way() == QuickerWay::other) return copy_middling(to, in, bytes);
  }
#endif
  write_middling(to, from, bytes);
}

}  // namespace aqueduct::detail
