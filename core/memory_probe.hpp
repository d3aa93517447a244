#pragma once

#include <cstddef>

#include <sys/mman.h>

namespace aqueduct::core {

/// Whether the system gives this process a little more memory now. For reports: network libraries say only that they have no
/// room when an allocation of theirs fails.
inline bool gets_memory() noexcept {
  constexpr std::size_t kBytes = std::size_t{1}
                                 << 18;  // chosen: what a connection of a network library may take
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  ::munmap(memory, kBytes);
  return true;
}

/// What to do about it.
inline constexpr const char* kNoMemory =
    "the system gives this rank no more memory (see ulimit -v, setrlimit and vm.overcommit_memory)";

}  // namespace aqueduct::core
