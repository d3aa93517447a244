#pragma once

#include <cstddef>

namespace aqueduct::core {

/// Private memory, part of which a forked child sees as zeroes (madvise(2), MADV_WIPEONFORK). The fields that inline
/// code reads are in that part. So inline code in a child finds nothing mapped, and this costs the parent no check.
class WipedMemory {
 public:
  /// Reserves `kept` bytes, which a child sees unchanged, directly followed by `wiped` bytes, which it sees as zeroes.
  /// All bytes are zero at first; a page takes memory once it is written. Throws std::bad_alloc.
  WipedMemory(std::size_t kept, std::size_t wiped) : WipedMemory(kept, wiped, wiped) {}
  /// The same, but only the first `writable` of the wiped bytes can be written; `extend` adds more, and the rest reads
  /// as zeroes. Pages that cannot be written count as address space only, even if the system does not overcommit
  /// memory.
  WipedMemory(std::size_t kept, std::size_t wiped, std::size_t writable);
  ~WipedMemory();
  WipedMemory(const WipedMemory&) = delete;
  WipedMemory& operator=(const WipedMemory&) = delete;

  /// The start of the wiped bytes, which is the end of the kept ones. It is the start of a page.
  std::byte* border() const noexcept { return border_; }
  /// Makes the first `bytes` wiped bytes writable, or all if there are fewer. False: the system has no memory.
  bool extend(std::size_t bytes) noexcept;
  /// Whether the system shows a child zeroes: Linux does since 4.14.
  bool wipes() const noexcept { return wipes_; }

 private:
  std::byte* border_ = nullptr;
  std::size_t kept_ = 0;
  std::size_t wiped_ = 0;
  std::size_t writable_ = 0;  ///< how many of the wiped bytes can be written
  bool wipes_ = false;
};

}  // namespace aqueduct::core
