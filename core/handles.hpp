#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace aqueduct::core {

/// Things that conduits know by a number: imported keys, for the most part. Numbers of those that are gone are used again.
template <class T>
class Handles {
 public:
  /// Throws std::bad_alloc, and nothing has changed.
  std::uint64_t add(T thing) {
    if (free_.empty()) {
      free_.reserve(things_.size() + 1);  // so that `remove` needs no memory
      things_.push_back(std::move(thing));
      return things_.size() - 1;
    }
    const std::uint64_t handle = free_.back();
    things_[handle] = std::move(thing);
    free_.pop_back();
    return handle;
  }
  /// Requires: `handle` is one that `add` has returned and nobody has removed since.
  T remove(std::uint64_t handle) noexcept {
    free_.push_back(handle);
    return std::exchange(things_[handle], T{});
  }
  T& operator[](std::uint64_t handle) noexcept { return things_[handle]; }
  const T& operator[](std::uint64_t handle) const noexcept { return things_[handle]; }
  /// Also those that were removed, which are T{}.
  const std::vector<T>& all() const noexcept { return things_; }

 private:
  std::vector<T> things_;
  std::vector<std::uint64_t> free_;
};

}  // namespace aqueduct::core
