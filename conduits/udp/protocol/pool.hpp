#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace aqueduct::conduits::udp {

/// A pool of objects with a `next` pointer. Allocates only to grow, a block at a time, up to `most` objects. Keeps its
/// memory until it is destroyed.
template <class T>
class Pool {
 public:
  explicit Pool(std::size_t most, std::size_t block = 8) : most_(most), block_(block) {}

  /// Null: `most` objects are in use, or there is no memory.
  T* take() noexcept {
    if (free_ == nullptr && !grow()) return nullptr;
    T* one = free_;
    free_ = one->next;
    one->next = nullptr;
    ++in_use_;
    return one;
  }
  /// Whether `count` calls of take() would succeed now.
  bool ready(std::size_t count) noexcept {
    while (made_ - in_use_ < count) {
      if (!grow()) return false;
    }
    return true;
  }
  void give(T* one) noexcept {
    one->next = free_;
    free_ = one;
    --in_use_;
  }
  std::size_t in_use() const noexcept { return in_use_; }
  /// Whether the pool has found no memory when it last had to grow.
  bool lacks_memory() const noexcept { return lacks_memory_; }

 private:
  bool grow() noexcept try {
    lacks_memory_ = false;
    if (made_ >= most_) return false;
    blocks_.push_back(std::make_unique_for_overwrite<T[]>(block_));
    made_ += block_;
    for (std::size_t i = 0; i < block_; ++i) {
      T* one = &blocks_.back()[i];
      one->next = free_;
      free_ = one;
    }
    return true;
  } catch (const std::bad_alloc&) {
    lacks_memory_ = true;
    return false;
  }

  std::size_t most_;
  std::size_t block_;
  std::size_t made_ = 0;
  std::size_t in_use_ = 0;
  bool lacks_memory_ = false;
  T* free_ = nullptr;
  std::vector<std::unique_ptr<T[]>> blocks_;
};

/// A first-in, first-out list through the objects' `next`.
template <class T>
class Queue {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  T* front() const noexcept { return first_; }
  void push(T* one) noexcept {
    one->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = one;
    last_ = one;
  }
  T* pop() noexcept {
    T* one = first_;
    first_ = one->next;
    one->next = nullptr;
    return one;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace aqueduct::conduits::udp
