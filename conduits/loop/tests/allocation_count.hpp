#pragma once

#include <cstdint>

namespace aqueduct::conduits::loop {

/// How often this thread has called operator new.
std::uint64_t allocations() noexcept;

/// While it lives, `calls` calls of operator new on this thread fail, after the next `good` ones.
class NoMemory {
 public:
  explicit NoMemory(std::uint64_t calls = UINT64_MAX, std::uint64_t good = 0) noexcept;
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace aqueduct::conduits::loop
