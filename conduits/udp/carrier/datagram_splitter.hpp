#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <sys/uio.h>

namespace aqueduct::conduits::udp {

/// Splits a list of memory pieces into datagrams, one after another.
class DatagramSplitter {
 public:
  explicit DatagramSplitter(std::span<const iovec> pieces) noexcept : left_(pieces) {}

  /// Writes the pieces that hold the next `bytes` bytes. Returns their number, or 0 if `into` is too small or fewer
  /// bytes are left.
  std::size_t take(std::size_t bytes, std::span<iovec> into) noexcept {
    std::size_t count = 0;
    while (bytes != 0) {
      if (left_.empty() || count == into.size()) return 0;
      const std::size_t here = std::min(bytes, left_.front().iov_len - offset_);
      if (here != 0) into[count++] = {static_cast<std::byte*>(left_.front().iov_base) + offset_, here};
      offset_ += here;
      bytes -= here;
      if (offset_ == left_.front().iov_len) {
        left_ = left_.subspan(1);
        offset_ = 0;
      }
    }
    return count;
  }

 private:
  std::span<const iovec> left_;
  std::size_t offset_ = 0;  // in the first remaining piece
};

}  // namespace aqueduct::conduits::udp
