#pragma once

// Copies of words into and out of segments, for the inline puts and gets: as in aqueduct/copy_bytes.hpp.

#include <stdbool.h>
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
/// The largest constant number of bytes of which g++ makes single loads and stores. Of a larger one it makes `rep movsq`, which
/// takes twice as long as the C library: measured on Zen 4 with 1 KiB.
#define AQ_UNROLLED_BYTES 256u

/// Copies more than 8 bytes.
static inline void aq_copy_long(void* to, const void* from, size_t bytes) {
  if (__builtin_constant_p(bytes) && bytes > AQ_UNROLLED_BYTES) __asm__("" : "+r"(bytes));
  memcpy(to, from, bytes);
}
/// Copies at most AQ_INLINE_BYTES bytes; 1, 2, 4 and 8 bytes with one store. With zero bytes, the addresses may be
/// null.
static inline void aq_copy_bytes(void* to, const void* from, size_t bytes) {
  if (__builtin_expect(bytes == 8, 1)) {  // apart, because the others become a jump through a table
    aq_store_word64(to, aq_load_word64(from));
    return;
  }
  if (bytes > 8) {
    aq_copy_long(to, from, bytes);
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
