#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace aqueduct::detail {

/// memcpy for the sizes at which the C library's is not the fastest.
void copy_middling(std::byte* to, const void* from, std::size_t bytes) noexcept;

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool kThreadSanitizer = false;
#endif

/// A word of some object's bytes, at any address. Volatile: the compiler neither repeats nor splits the access. By the
/// language that is no atomic access yet, so the thread sanitizer, which goes by the language, is shown one where the word
/// is aligned: puts and gets of words may meet atomics.
template <class Word>
struct AnyWord {
  using Type [[gnu::may_alias, gnu::aligned(1)]] = Word;
  using Aligned [[gnu::may_alias]] = Word;

  static bool atomic(const void* at) noexcept {
    return kThreadSanitizer && reinterpret_cast<std::uintptr_t>(at) % sizeof(Word) == 0;
  }
  static Word load(const void* from) noexcept {
    if (atomic(from)) return __atomic_load_n(static_cast<const Aligned*>(from), __ATOMIC_RELAXED);
    return *static_cast<const volatile Type*>(from);
  }
  static void store(void* to, Word word) noexcept {
    if (atomic(to)) return __atomic_store_n(static_cast<Aligned*>(to), word, __ATOMIC_RELAXED);
    *static_cast<volatile Type*>(to) = word;
  }
};

/// Copies 1, 2, 4 or 8 bytes with one load and one store: whoever polls an aligned word finds the old value or the new one,
/// and may write the next as soon as it sees the new one. The C library's memcpy stores such a word twice.
/// False: another size, and nothing has happened.
inline bool copy_word(void* to, const void* from, std::size_t bytes) noexcept {
  switch (bytes) {
    case 1: AnyWord<std::uint8_t>::store(to, AnyWord<std::uint8_t>::load(from)); return true;
    case 2: AnyWord<std::uint16_t>::store(to, AnyWord<std::uint16_t>::load(from)); return true;
    case 4: AnyWord<std::uint32_t>::store(to, AnyWord<std::uint32_t>::load(from)); return true;
    case 8: AnyWord<std::uint64_t>::store(to, AnyWord<std::uint64_t>::load(from)); return true;
    default: return false;
  }
}

/// Copies into or out of a segment; words as copy_word does. Of no bytes, the addresses may be null.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  constexpr std::size_t kLeast = 2048;  // measured, see core/copy.cpp
  constexpr std::size_t kMost = 12288;
  if (bytes <= sizeof(std::uint64_t)) {
    if (copy_word(to, from, bytes) || bytes == 0) return;
  } else if (bytes - kLeast <= kMost - kLeast) {
    return copy_middling(static_cast<std::byte*>(to), from, bytes);
  }
  std::memcpy(to, from, bytes);
}

/// The same where the two may overlap.
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

/// A value of 1 to 8 bytes into a segment; one store where it is as long as a word.
template <class T>
inline void store_value(std::byte* to, const T& value) noexcept {
  if constexpr ((sizeof(T) & (sizeof(T) - 1)) == 0) {
    using Word = typename WordOf<sizeof(T)>::Type;
    Word word;
    std::memcpy(&word, &value, sizeof word);
    AnyWord<Word>::store(to, word);
  } else {
    std::memcpy(to, &value, sizeof value);
  }
}

/// Out of a segment.
template <class T>
inline void load_value(T& value, const std::byte* from) noexcept {
  if constexpr ((sizeof(T) & (sizeof(T) - 1)) == 0) {
    using Word = typename WordOf<sizeof(T)>::Type;
    const Word word = AnyWord<Word>::load(from);
    std::memcpy(static_cast<void*>(&value), &word, sizeof word);
  } else {
    std::memcpy(static_cast<void*>(&value), from, sizeof value);
  }
}

}  // namespace aqueduct::detail
