#pragma once

#include "conduits/ucx/wire.hpp"

#include <deque>
#include <new>

namespace aqueduct::conduits::ucx {

class PutMessages;

/// A put by message that UCX is receiving by its rendezvous protocol: its bytes are still on their way.
struct RendezvousPut {
  RendezvousPut* next = nullptr;
  PutMessages* owner = nullptr;
  PutHead head{};
};

/// A pool that grows to the largest number that arrive at a time.
class RendezvousPool {
 public:
  /// Null: no memory.
  RendezvousPut* acquire() noexcept try {
    if (free_ == nullptr) return &all_.emplace_back();
    RendezvousPut* const one = free_;
    free_ = one->next;
    return one;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  void release(RendezvousPut& one) noexcept {
    one.next = free_;
    free_ = &one;
  }

 private:
  std::deque<RendezvousPut> all_;
  RendezvousPut* free_ = nullptr;
};

}  // namespace aqueduct::conduits::ucx
