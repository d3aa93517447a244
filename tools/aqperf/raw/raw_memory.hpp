#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace aqueduct::perf {

/// Tells the compiler that memory may have changed, so that it neither drops nor merges the accesses around it.
/// Measured and raw loop both have one in each turn, and are otherwise equal.
inline void settle() noexcept { asm volatile("" : : : "memory"); }

/// Makes the compiler believe that the value is used.
template <class T>
void use(const T& value) noexcept {
  asm volatile("" : : "r"(value));
}

/// Hides a value from the compiler: it would replace a copy of a known size
/// by instructions, without a call of memcpy.
template <class T>
T unknown(T value) noexcept {
  asm volatile("" : "+r"(value));
  return value;
}

/// Calls `turn` `turns` times: the loop that measured and raw share. Inlined, so that the values which
/// `turn` captured stay in registers. As an argument in memory they would be loaded again in each turn,
/// and the measured side captures more of them.
template <class Turn>
[[gnu::always_inline]] inline void repeat(std::uint64_t turns, Turn turn) {
  for (; turns > 0; --turns) {
    turn();
    settle();
  }
}

// The comparators of put and get on mapped memory.

inline void raw_store(std::uint64_t* to, std::uint64_t value) noexcept { *to = value; }
inline std::uint64_t raw_load(const std::uint64_t* from) noexcept { return *from; }
inline void raw_copy(void* to, const void* from, std::size_t bytes) noexcept { std::memcpy(to, from, bytes); }

}  // namespace aqueduct::perf
