#pragma once

#include <cstdint>

namespace aqueduct::conduits::loop {

/// How often this thread has called operator new.
std::uint64_t allocations() noexcept;

/// While it lives, every call of operator new on this thread fails.
class NoMemory {
 public:
  NoMemory() noexcept;
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace aqueduct::conduits::loop
