#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace aqueduct::core {

/// Objects that a conduit names by a number, such as imported keys. Numbers of removed objects are used again.
template <class T>
class Handles {
 public:
  /// Adds an object and returns its number. If it throws std::bad_alloc, nothing has changed.
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
  /// Removes an object and returns it. Requires: `add` has returned `handle`, and it was not removed since.
  T remove(std::uint64_t handle) noexcept {
    free_.push_back(handle);
    return std::exchange(things_[handle], T{});
  }
  T& operator[](std::uint64_t handle) noexcept { return things_[handle]; }
  const T& operator[](std::uint64_t handle) const noexcept { return things_[handle]; }
  /// All objects by number. In place of a removed object there is a T{}.
  const std::vector<T>& all() const noexcept { return things_; }

 private:
  std::vector<T> things_;
  std::vector<std::uint64_t> free_;
};

}  // namespace aqueduct::core
