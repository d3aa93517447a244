#pragma once

#include <cstddef>

namespace aqueduct::core {

/// Private memory of which a forked child gets a part as zeroes (madvise(2), MADV_WIPEONFORK): what inline code looks at
/// lies there, so that it finds nothing in a child, and the parent pays nothing for that.
class WipedMemory {
 public:
  /// `kept` bytes, which a child gets as they are, directly before `wiped` ones. All are zero, and take memory once used.
  /// Throws std::bad_alloc.
  WipedMemory(std::size_t kept, std::size_t wiped);
  ~WipedMemory();
  WipedMemory(const WipedMemory&) = delete;
  WipedMemory& operator=(const WipedMemory&) = delete;

  /// Where the wiped bytes begin and the kept ones end; at a page's beginning.
  std::byte* border() const noexcept { return border_; }
  /// Whether the system does it: Linux since 4.14.
  bool wipes() const noexcept { return wipes_; }

 private:
  std::byte* border_ = nullptr;
  std::size_t kept_ = 0;
  std::size_t wiped_ = 0;
  bool wipes_ = false;
};

}  // namespace aqueduct::core
