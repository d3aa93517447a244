#pragma once

#include <cstddef>

namespace aqueduct::core {

/// Private memory of which a forked child gets a part as zeroes (madvise(2), MADV_WIPEONFORK): what inline code looks at
/// lies there, so that it finds nothing in a child, and the parent pays nothing for that.
class WipedMemory {
 public:
  /// `kept` bytes, which a child gets as they are, directly before `wiped` ones. All are zero, and take memory once used.
  /// Throws std::bad_alloc.
  WipedMemory(std::size_t kept, std::size_t wiped) : WipedMemory(kept, wiped, wiped) {}
  /// The same, but only `writable` of the wiped bytes can be written before `extend`; the rest reads as zeroes. What cannot
  /// be written is address space alone, also where the system promises no more memory than it has.
  WipedMemory(std::size_t kept, std::size_t wiped, std::size_t writable);
  ~WipedMemory();
  WipedMemory(const WipedMemory&) = delete;
  WipedMemory& operator=(const WipedMemory&) = delete;

  /// Where the wiped bytes begin and the kept ones end; at a page's beginning.
  std::byte* border() const noexcept { return border_; }
  /// Makes the first `bytes` wiped bytes writable, or all if there are fewer. False: the system gives no memory for them.
  bool extend(std::size_t bytes) noexcept;
  /// Whether the system does it: Linux since 4.14.
  bool wipes() const noexcept { return wipes_; }

 private:
  std::byte* border_ = nullptr;
  std::size_t kept_ = 0;
  std::size_t wiped_ = 0;
  std::size_t writable_ = 0;  ///< of the wiped ones
  bool wipes_ = false;
};

}  // namespace aqueduct::core
