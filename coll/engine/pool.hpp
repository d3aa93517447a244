#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace aqueduct::coll {

/// Objects that are used again. T has a member `next`. Memory is taken in blocks and given back at the end.
template <class T>
class Pool {
 public:
  /// Null: there is no memory.
  T* take() noexcept {
    if (free_ == nullptr && !grow()) return nullptr;
    T* const taken = free_;
    free_ = taken->next;
    taken->next = nullptr;
    return taken;
  }
  /// Takes memory now, if fewer than `count` objects are free. Without memory there are as many as before.
  void reserve(std::size_t count) noexcept {
    for (const T* object = free_; object != nullptr && count != 0; object = object->next) --count;
    if (count != 0) static_cast<void>(grow());
  }
  void give_back(T& object) noexcept {
    object.next = free_;
    free_ = &object;
  }

  /// How many objects there are, in use or not.
  std::size_t capacity() const noexcept { return blocks_.size() * kBlock; }

 private:
  static constexpr std::size_t kBlock = 16;

  bool grow() noexcept try {
    blocks_.reserve(blocks_.size() + 1);
    blocks_.push_back(std::make_unique<T[]>(kBlock));
    for (std::size_t i = 0; i < kBlock; ++i) give_back(blocks_.back()[i]);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  std::vector<std::unique_ptr<T[]>> blocks_;
  T* free_ = nullptr;
};

}  // namespace aqueduct::coll
