#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include <sys/mman.h>

namespace aqueduct::coll {

/// Memory for what a replay knows of all members. Events come to members in any order, so with pages of 4 KiB nearly each
/// access would also miss where the processor keeps its page table, and each page costs a fault. Asks the system for pages of
/// 2 MiB.
template <class T>
struct LargePages {
  using value_type = T;
  static constexpr std::size_t kPage = std::size_t{2} << 20;
  static constexpr std::size_t kLeast = kPage / 2;  // chosen: at most half of a page is not used

  LargePages() noexcept = default;
  template <class Other>
  LargePages(const LargePages<Other>&) noexcept {}  // NOLINT(google-explicit-constructor): as allocators are

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kLeast) return std::allocator<T>().allocate(count);
    const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
    void* const memory = ::operator new (whole, std::align_val_t{kPage});
    static_cast<void>(::madvise(memory, whole, MADV_HUGEPAGE));  // without it the pages are small
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (count * sizeof(T) < kLeast)
      std::allocator<T>().deallocate(memory, count);
    else
      ::operator delete (memory, std::align_val_t{kPage});
  }

  template <class Other>
  bool operator==(const LargePages<Other>&) const noexcept {
    return true;
  }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace aqueduct::coll
