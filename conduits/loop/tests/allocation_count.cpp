#include "conduits/loop/tests/allocation_count.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local std::uint64_t calls = 0;
thread_local std::uint64_t good = 0;
thread_local std::uint64_t failures = 0;

}  // namespace

std::uint64_t aqueduct::conduits::loop::allocations() noexcept { return calls; }

aqueduct::conduits::loop::NoMemory::NoMemory(std::uint64_t count, std::uint64_t before) noexcept {
  failures = count;
  good = before;
}
aqueduct::conduits::loop::NoMemory::~NoMemory() { failures = 0; }

// All pairs of operator new and delete except the aligned ones, which the counted code does not use. They must be
// complete: a sanitizer supplies missing ones, and then memory would be freed by another allocator than its own.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++calls;
  if (failures != 0 && good != 0) {
    --good;
  } else if (failures != 0) {
    --failures;
    return nullptr;
  }
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes) {
  if (void* memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return operator new(bytes, std::nothrow);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
