#pragma once

#include "core/conduit.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace aqueduct::conduits::ucx {

class UcxConduit;
struct PacketBuffer;

/// An operation of the layers above that was given to UCX and has not ended.
struct Pending {
  Pending* next = nullptr;  ///< in the free list, or in a list of puts that one flush ends
  UcxConduit* owner = nullptr;
  core::Token token = 0;
  Rank peer = kNoRank;
  bool in_use = false;
  bool orphan = false;            ///< its end has been reported: UCX never says it, or too late
  PacketBuffer* buffer = nullptr;  ///< of an injected put: where its bytes lie
};

/// All that an endpoint may have pending, made once. What is given back last is taken first: it is still in the cache.
class PendingPool {
 public:
  PendingPool(UcxConduit& owner, std::size_t count) : all_(count) {
    for (std::size_t i = count; i-- > 0;) {
      all_[i].owner = &owner;
      all_[i].next = free_;
      free_ = &all_[i];
    }
  }

  /// Null: there is no room.
  Pending* take(Rank peer, core::Token token) noexcept {
    Pending* const one = free_;
    if (one == nullptr) return nullptr;
    free_ = one->next;
    one->next = nullptr;
    one->peer = peer;
    one->token = token;
    one->in_use = true;
    ++in_use_;
    return one;
  }
  void give(Pending& one) noexcept {
    one.in_use = one.orphan = false;
    one.buffer = nullptr;
    one.next = free_;
    free_ = &one;
    --in_use_;
  }
  std::size_t in_use() const noexcept { return in_use_; }
  std::vector<Pending>& all() noexcept { return all_; }

 private:
  std::vector<Pending> all_;
  Pending* free_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace aqueduct::conduits::ucx
