#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace aqueduct::perf {

/// Tells the compiler that memory may have changed, so that it neither drops nor merges what is around it.
/// Both sides of a comparison have one in each turn, and nothing else of a loop.
inline void settle() noexcept { asm volatile("" : : : "memory"); }

/// Makes the compiler believe that a value is used.
template <class T>
void use(const T& value) noexcept {
  asm volatile("" : : "r"(value));
}

/// Keeps the compiler from knowing a value: a copy of a known size would not be a call of memcpy.
template <class T>
T unknown(T value) noexcept {
  asm volatile("" : "+r"(value));
  return value;
}

/// Does one thing `turns` times: the loop that measured and raw share. Inlined, so that what the turn
/// captured by value is in registers: as an argument in memory it would be fetched again in each turn, and
/// the measured side has more of it.
template <class Turn>
[[gnu::always_inline]] inline void repeat(std::uint64_t turns, Turn turn) {
  for (; turns > 0; --turns) {
    turn();
    settle();
  }
}

// What put and get are compared with, on memory that is mapped here.

inline void raw_store(std::uint64_t* to, std::uint64_t value) noexcept { *to = value; }
inline std::uint64_t raw_load(const std::uint64_t* from) noexcept { return *from; }
inline void raw_copy(void* to, const void* from, std::size_t bytes) noexcept { std::memcpy(to, from, bytes); }

}  // namespace aqueduct::perf
