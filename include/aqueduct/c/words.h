#pragma once

// Copies of words into and out of segments, for the inline puts and gets: as in aqueduct/copy_bytes.hpp.

#include <stddef.h>
#include <stdint.h>

#include <string.h>

// Whether aligned words are accessed by atomics: for the thread sanitizer, and where the processor reorders accesses.
// Elsewhere the order of the compiler is enough.
#if defined(__SANITIZE_THREAD__) || !(defined(__x86_64__) || defined(__i386__))
#define AQ_WORDS_ARE_ATOMIC 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define AQ_WORDS_ARE_ATOMIC 1
#endif
#endif
#ifndef AQ_WORDS_ARE_ATOMIC
#define AQ_WORDS_ARE_ATOMIC 0
#endif

// One load and one store of a word, at any address and whatever is there. A load is an acquire, a store is a release:
// who sees a word also sees what was written before (docs/memory-model.md). Aligned words are whole.
#define AQ_DEFINE_WORD(T, name)                                                 \
  typedef T __attribute__((__may_alias__, __aligned__(1))) aq_any_##name;       \
  typedef T __attribute__((__may_alias__)) aq_aligned_##name;                   \
  static inline void aq_store_##name(void* to, T word) {                        \
    if (AQ_WORDS_ARE_ATOMIC && (uintptr_t)to % sizeof(T) == 0) {                \
      __atomic_store_n((aq_aligned_##name*)to, word, __ATOMIC_RELEASE);         \
      return;                                                                   \
    }                                                                           \
    __atomic_signal_fence(__ATOMIC_RELEASE);                                    \
    *(volatile aq_any_##name*)to = word;                                        \
  }                                                                             \
  static inline T aq_load_##name(const void* from) {                            \
    if (AQ_WORDS_ARE_ATOMIC && (uintptr_t)from % sizeof(T) == 0) {              \
      return __atomic_load_n((const aq_aligned_##name*)from, __ATOMIC_ACQUIRE); \
    }                                                                           \
    const T word = *(const volatile aq_any_##name*)from;                        \
    __atomic_signal_fence(__ATOMIC_ACQUIRE);                                    \
    return word;                                                                \
  }
AQ_DEFINE_WORD(uint8_t, word8)
AQ_DEFINE_WORD(uint16_t, word16)
AQ_DEFINE_WORD(uint32_t, word32)
AQ_DEFINE_WORD(uint64_t, word64)
#undef AQ_DEFINE_WORD

/// Longer copies go through the library, which has its own loops for them.
#define AQ_INLINE_BYTES 2111u

/// The most bytes that a few loads and stores copy in less time than a call of memcpy takes: measured on Zen 4.
#define AQ_FEW_BYTES 64u

typedef char aq_any_bytes16 __attribute__((__vector_size__(16), __aligned__(1), __may_alias__));

/// Copies 9 to AQ_FEW_BYTES bytes. The last pieces may overlap those before them.
static inline void aq_copy_few(void* to, const void* from, size_t bytes) {
  const char* in = (const char*)from;
  char* out = (char*)to;
  // As a call of memcpy does: the compiler keeps nothing of memory in registers. Nor does it warn of branches that a short
  // buffer never takes.
  __asm__ volatile("" : "+r"(in), "+r"(out) : : "memory");
  if (bytes <= 16) {
    const uint64_t first = *(const aq_any_word64*)in;
    const uint64_t last = *(const aq_any_word64*)(in + bytes - 8);
    *(aq_any_word64*)out = first;
    *(aq_any_word64*)(out + bytes - 8) = last;
    return;
  }
  const aq_any_bytes16 first = *(const aq_any_bytes16*)in;
  const aq_any_bytes16 last = *(const aq_any_bytes16*)(in + bytes - 16);
  if (bytes > 32) {
    const aq_any_bytes16 second = *(const aq_any_bytes16*)(in + 16);
    const aq_any_bytes16 third = *(const aq_any_bytes16*)(in + bytes - 32);
    *(aq_any_bytes16*)(out + 16) = second;
    *(aq_any_bytes16*)(out + bytes - 32) = third;
  }
  *(aq_any_bytes16*)out = first;
  *(aq_any_bytes16*)(out + bytes - 16) = last;
}
/// Copies at most AQ_FEW_BYTES bytes; 1, 2, 4 and 8 bytes with one store. With zero bytes, the addresses may be null.
static inline void aq_copy_short(void* to, const void* from, size_t bytes) {
  if (__builtin_expect(bytes == 8, 1)) {  // apart, because the others become a jump through a table
    aq_store_word64(to, aq_load_word64(from));
    return;
  }
  if (bytes > 8) {
    aq_copy_few(to, from, bytes);
    return;
  }
  switch (bytes) {
    case 0: return;
    case 1: aq_store_word8(to, aq_load_word8(from)); return;
    case 2: aq_store_word16(to, aq_load_word16(from)); return;
    case 4: aq_store_word32(to, aq_load_word32(from)); return;
    default: memcpy(to, from, bytes); return;
  }
}
/// From how many bytes on a loop of the library copies faster than memcpy: measured on Zen 4.
#define AQ_LOOP_BYTES 1024u
/// The same if the number is a constant. g++ would make `rep movsq` of memcpy, which takes twice as long for 1 KiB.
#define AQ_LOOP_CONSTANT_BYTES 257u

/// Copies at most AQ_INLINE_BYTES bytes, as aq_copy_short does. `loop` copies what is too long for memcpy.
static inline void aq_copy_bytes_with(void (*loop)(void* to, const void* from, size_t bytes), void* to, const void* from,
                                      size_t bytes) {
  if (__builtin_expect(bytes <= AQ_FEW_BYTES, 1)) {
    aq_copy_short(to, from, bytes);
    return;
  }
  if (bytes >= (__builtin_constant_p(bytes) ? AQ_LOOP_CONSTANT_BYTES : AQ_LOOP_BYTES)) {
    loop(to, from, bytes);
    return;
  }
  __asm__("" : "+r"(to), "+r"(from));  // so that the compiler does not warn where they are too short to get here
  memcpy(to, from, bytes);
}

#ifdef __cplusplus
extern "C" {
#endif
/// For inline functions: copies more than AQ_FEW_BYTES bytes.
void aq_copy_more(void* to, const void* from, size_t bytes);
/// The same into memory that other processors read.
void aq_write_more(void* to, const void* from, size_t bytes);
#ifdef __cplusplus
}
#endif

static inline void aq_copy_bytes(void* to, const void* from, size_t bytes) {
  aq_copy_bytes_with(aq_copy_more, to, from, bytes);
}
/// As aq_copy_bytes, into memory that other processors read.
static inline void aq_write_bytes(void* to, const void* from, size_t bytes) {
  aq_copy_bytes_with(aq_write_more, to, from, bytes);
}
