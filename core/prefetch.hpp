#pragma once

namespace aqueduct::core {

/// Fetches a cache line for reading.
inline void prefetch(const void* line) noexcept { __builtin_prefetch(line); }

/// Fetches a cache line for writing, so that a store there does not wait for another processor's copy of it.
inline void prefetch_for_write(const void* line) noexcept {
#if defined(__x86_64__)
  // The builtin is an ordinary prefetch unless the compiler targets newer processors. Older processors ignore this one.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace aqueduct::core
