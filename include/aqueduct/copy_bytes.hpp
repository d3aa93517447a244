#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace aqueduct::detail {

/// memcpy for the sizes at which that of the C library may not be the fastest.
void copy_middling(std::byte* to, const void* from, std::size_t bytes) noexcept;
/// The same into memory that other processors read: the lines there are in their caches.
void write_middling(std::byte* to, const void* from, std::size_t bytes) noexcept;
/// The same where other processors may or may not have read what was there: learns what is quicker.
void put_middling(std::byte* to, const void* from, std::size_t bytes) noexcept;
// Measured, see kernels/copy.cpp.
inline constexpr std::size_t kMostMiddling = 4194304;
inline constexpr std::size_t kLeastMiddling = 1024;
// Of a larger constant number of bytes g++ makes `rep movsq`. Measured on Zen 4: 1 KiB takes twice as long with it.
inline constexpr std::size_t kMostUnrolled = 256;

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool kThreadSanitizer = false;
#endif

/// Processors that keep the order of stores and of loads, so that the compiler's order is enough.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr bool kOrderedAccesses = true;
#else
inline constexpr bool kOrderedAccesses = false;
#endif

/// Reads and writes a word at any address, whatever the type of the object there. A load is an acquire and a store is a
/// release, so that a rank that sees a word also sees what was written before (docs/memory-model.md, M-8).
///
/// The access is volatile, so that the compiler neither repeats nor splits it, with a fence for the compiler. C++ does
/// not call that an atomic access, and neither does the thread sanitizer. Under the sanitizer, and on processors that
/// reorder accesses, aligned words are therefore accessed by atomics: puts and gets of words may race with atomics.
template <class Word>
struct AnyWord {
  using Type [[gnu::may_alias, gnu::aligned(1)]] = Word;
  using Aligned [[gnu::may_alias]] = Word;

  static bool atomic(const void* at) noexcept {
    return (kThreadSanitizer || !kOrderedAccesses) &&
           reinterpret_cast<std::uintptr_t>(at) % sizeof(Word) == 0;
  }
  static Word load(const void* from) noexcept {
    if (atomic(from)) return __atomic_load_n(static_cast<const Aligned*>(from), __ATOMIC_ACQUIRE);
    const Word word = *static_cast<const volatile Type*>(from);
    __atomic_signal_fence(__ATOMIC_ACQUIRE);
    return word;
  }
  static void store(void* to, Word word) noexcept {
    if (atomic(to)) return __atomic_store_n(static_cast<Aligned*>(to), word, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_RELEASE);
    *static_cast<volatile Type*>(to) = word;
  }
};

/// Whether the bytes at that address are exactly one aligned word.
inline bool is_word(std::uint64_t address, std::size_t bytes) noexcept {
  return bytes <= 8 && bytes != 0 && (bytes & (bytes - 1)) == 0 && address % bytes == 0;
}

/// Copies 1, 2, 4 or 8 bytes with one load and one store. A thread that polls an aligned word sees the old value or
/// the new one, and may overwrite it as soon as it sees the new one. (The C library's memcpy stores such a word
/// twice.) Returns false, and copies nothing, for any other size.
inline bool copy_word(void* to, const void* from, std::size_t bytes) noexcept {
  switch (bytes) {
    case 1: AnyWord<std::uint8_t>::store(to, AnyWord<std::uint8_t>::load(from)); return true;
    case 2: AnyWord<std::uint16_t>::store(to, AnyWord<std::uint16_t>::load(from)); return true;
    case 4: AnyWord<std::uint32_t>::store(to, AnyWord<std::uint32_t>::load(from)); return true;
    case 8: AnyWord<std::uint64_t>::store(to, AnyWord<std::uint64_t>::load(from)); return true;
    default: return false;
  }
}

/// The most bytes that a few loads and stores copy in less time than a call of memcpy takes: measured on Zen 4.
inline constexpr std::size_t kMostFew = 64;

/// Copies 9 to kMostFew bytes. The last pieces may overlap those before them.
inline void copy_few(void* to, const void* from, std::size_t bytes) noexcept {
  using Word [[gnu::may_alias, gnu::aligned(1)]] = std::uint64_t;
  using Piece [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]] = char;
  const auto* in = static_cast<const char*>(from);
  auto* out = static_cast<char*>(to);
  // As a call of memcpy does: the compiler keeps nothing of memory in registers. Nor does it warn of branches that a short
  // buffer never takes.
  asm volatile("" : "+r"(in), "+r"(out) : : "memory");
  if (bytes <= 16) {
    const std::uint64_t first = *reinterpret_cast<const Word*>(in);
    const std::uint64_t last = *reinterpret_cast<const Word*>(in + bytes - 8);
    *reinterpret_cast<Word*>(out) = first;
    *reinterpret_cast<Word*>(out + bytes - 8) = last;
    return;
  }
  const Piece first = *reinterpret_cast<const Piece*>(in);
  const Piece last = *reinterpret_cast<const Piece*>(in + bytes - 16);
  if (bytes > 32) {
    const Piece second = *reinterpret_cast<const Piece*>(in + 16);
    const Piece third = *reinterpret_cast<const Piece*>(in + bytes - 32);
    *reinterpret_cast<Piece*>(out + 16) = second;
    *reinterpret_cast<Piece*>(out + bytes - 32) = third;
  }
  *reinterpret_cast<Piece*>(out) = first;
  *reinterpret_cast<Piece*>(out + bytes - 16) = last;
}

/// `Middling`: copy_middling, write_middling or put_middling.
template <auto Middling>
inline void copy_bytes_with(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == sizeof(std::uint64_t)) [[likely]]
    return AnyWord<std::uint64_t>::store(to, AnyWord<std::uint64_t>::load(from));
  if (bytes < sizeof(std::uint64_t)) {
    if (copy_word(to, from, bytes) || bytes == 0) return;
  } else if (bytes <= kMostFew) {
    return copy_few(to, from, bytes);
  } else if (__builtin_constant_p(bytes) ? bytes > kMostUnrolled && bytes <= kMostMiddling
                                         : bytes - kLeastMiddling <= kMostMiddling - kLeastMiddling) {
    return Middling(static_cast<std::byte*>(to), from, bytes);
  }
  asm("" : "+r"(to), "+r"(from));  // so that the compiler does not warn where they are too short to get here
  std::memcpy(to, from, bytes);
}
/// Copies into or out of a segment; words are copied as by copy_word. With zero bytes, the addresses may be null.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  copy_bytes_with<copy_middling>(to, from, bytes);
}
/// As copy_bytes, into memory that other processors read.
inline void write_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  copy_bytes_with<write_middling>(to, from, bytes);
}
/// As copy_bytes, into another rank's memory, of which nobody knows when it is read.
inline void put_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  copy_bytes_with<put_middling>(to, from, bytes);
}

/// As copy_bytes, for memory that may overlap.
inline void move_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  if (!copy_word(to, from, bytes) && bytes != 0) std::memmove(to, from, bytes);
}

template <std::size_t kBytes>
struct WordOf;
template <>
struct WordOf<1> {
  using Type = std::uint8_t;
};
template <>
struct WordOf<2> {
  using Type = std::uint16_t;
};
template <>
struct WordOf<4> {
  using Type = std::uint32_t;
};
template <>
struct WordOf<8> {
  using Type = std::uint64_t;
};

/// Writes a value of 1 to 8 or 16 bytes into a segment: with one store if its size is a power of two, with two stores
/// if it has 16 bytes.
template <class T>
inline void store_value(std::byte* to, const T& value) noexcept {
  if constexpr (sizeof(T) == 16) {
    std::uint64_t words[2];
    std::memcpy(words, &value, sizeof words);
    AnyWord<std::uint64_t>::store(to, words[0]);
    AnyWord<std::uint64_t>::store(to + 8, words[1]);
  } else if constexpr ((sizeof(T) & (sizeof(T) - 1)) == 0) {
    using Word = typename WordOf<sizeof(T)>::Type;
    Word word;
    std::memcpy(&word, &value, sizeof word);
    AnyWord<Word>::store(to, word);
  } else {
    std::memcpy(to, &value, sizeof value);
  }
}

/// Reads a value of 1 to 8 or 16 bytes from a segment: with as many loads.
template <class T>
inline void load_value(T& value, const std::byte* from) noexcept {
  if constexpr (sizeof(T) == 16) {
    const std::uint64_t words[2] = {AnyWord<std::uint64_t>::load(from),
                                    AnyWord<std::uint64_t>::load(from + 8)};
    std::memcpy(static_cast<void*>(&value), words, sizeof words);
  } else if constexpr ((sizeof(T) & (sizeof(T) - 1)) == 0) {
    using Word = typename WordOf<sizeof(T)>::Type;
    const Word word = AnyWord<Word>::load(from);
    std::memcpy(static_cast<void*>(&value), &word, sizeof word);
  } else {
    std::memcpy(static_cast<void*>(&value), from, sizeof value);
  }
}

}  // namespace aqueduct::detail
