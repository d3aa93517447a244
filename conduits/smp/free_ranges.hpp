#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>

namespace aqueduct::conduits::smp {

/// The free ranges of a shared object of a fixed size. Ranges are multiples of `grain` bytes.
class FreeRanges {
 public:
  FreeRanges(std::size_t bytes, std::size_t grain) : grain_(grain), bytes_(bytes / grain * grain) {
    if (bytes_ != 0) free_.emplace(0, bytes_);
  }

  /// Takes `bytes` bytes from the first range that is long enough. Returns their offset, or nothing if there is no such
  /// range. If it throws std::bad_alloc, nothing has changed.
  std::optional<std::size_t> take(std::size_t bytes) {
    const std::size_t wanted = whole(std::max<std::size_t>(bytes, 1));
    for (auto at = free_.begin(); at != free_.end(); ++at) {
      if (at->second < wanted) continue;
      const std::size_t offset = at->first;
      const std::size_t rest = at->second - wanted;
      if (rest != 0) free_.emplace_hint(std::next(at), offset + wanted, rest);
      free_.erase(at);
      return offset;
    }
    return std::nullopt;
  }
  /// Frees a range that `take` returned. Requires: the same number of bytes. If it throws std::bad_alloc, the range
  /// stays taken for good.
  void give(std::size_t offset, std::size_t bytes) {
    auto at = free_.emplace(offset, whole(bytes)).first;
    if (const auto next = std::next(at); next != free_.end() && at->first + at->second == next->first) {
      at->second += next->second;
      free_.erase(next);
    }
    if (at == free_.begin()) return;
    if (const auto before = std::prev(at); before->first + before->second == at->first) {
      before->second += at->second;
      free_.erase(at);
    }
  }
  /// Whether the whole object is free.
  bool all_free() const noexcept { return free_.size() == 1 && free_.begin()->second == bytes_; }

 private:
  std::size_t whole(std::size_t bytes) const noexcept { return (bytes + grain_ - 1) / grain_ * grain_; }

  std::size_t grain_;
  std::size_t bytes_;
  std::map<std::size_t, std::size_t> free_;  // offset, bytes
};

}  // namespace aqueduct::conduits::smp
