#pragma once

#include "conduits/ucx/wire.hpp"

#include <deque>
#include <new>

namespace aqueduct::conduits::ucx {

class PutMessages;

/// A put by message whose bytes UCX is still fetching.
struct Arriving {
  Arriving* next = nullptr;
  PutMessages* owner = nullptr;
  PutHead head{};
};

/// As many as peers have on their way here at a time; memory is taken for the first ones only.
class ArrivingPool {
 public:
  /// Null: there is no memory.
  Arriving* take() noexcept try {
    if (free_ == nullptr) return &all_.emplace_back();
    Arriving* const one = free_;
    free_ = one->next;
    return one;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  void give(Arriving& one) noexcept {
    one.next = free_;
    free_ = &one;
  }

 private:
  std::deque<Arriving> all_;
  Arriving* free_ = nullptr;
};

}  // namespace aqueduct::conduits::ucx
