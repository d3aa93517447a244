#pragma once

#include "core/dice.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace aqueduct::conduits::loop {

/// A bounded queue. Elements are drawn in order of arrival or, with a seed, in a random order.
///
/// All elements are made at the start and reused: neither adding nor drawing allocates.
template <class T>
class ReorderingQueue {
 public:
  /// `seed` 0: first in, first out.
  ReorderingQueue(std::size_t capacity, std::uint64_t seed, std::uint64_t stream) : elements_(capacity) {
    if (seed != 0) dice_.emplace(seed, stream);
  }

  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  bool full() const noexcept { return count_ == elements_.size(); }
  /// All elements, whether in use or not, so that they can be given buffers.
  std::vector<T>& elements() noexcept { return elements_; }

  /// Adds an element and returns it to be filled. It holds what its last use left. Requires: not full.
  T& add() noexcept { return at(count_++); }

  /// Draws the next element. It stays at the front of the queue until `drop`. Requires: not empty.
  T& draw() noexcept {
    if (dice_) std::swap(at(0), at(dice_->below(count_)));
    return at(0);
  }
  /// Removes the element that was drawn last.
  void drop() noexcept {
    first_ = (first_ + 1) % elements_.size();
    --count_;
  }

  template <class Predicate>
  bool any_of(Predicate predicate) noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
      if (predicate(std::as_const(at(i)))) return true;
    }
    return false;
  }

 private:
  T& at(std::size_t index) noexcept { return elements_[(first_ + index) % elements_.size()]; }

  std::vector<T> elements_;  // a ring: `count_` elements in use, beginning at `first_`
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::optional<core::Dice> dice_;
};

}  // namespace aqueduct::conduits::loop
