#pragma once

#include "core/conduit.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace aqueduct::conduits::ucx {

class UcxConduit;

/// A buffer for one packet, which UCX reads until it says that it has sent it.
struct PacketBuffer {
  PacketBuffer* next = nullptr;
  UcxConduit* owner = nullptr;
  Rank peer = kNoRank;
  std::byte* bytes = nullptr;
};

/// All packets that an endpoint may have on their way out. Their memory is touched when it is first used, and the same
/// few buffers serve an endpoint whose packets leave at once.
class PacketPool {
 public:
  PacketPool(UcxConduit& owner, std::size_t count, std::size_t bytes)
      : memory_(new (std::align_val_t{64}) std::byte[count * bytes]), all_(count) {
    for (std::size_t i = count; i-- > 0;) {
      all_[i] = {free_, &owner, kNoRank, memory_.get() + i * bytes};
      free_ = &all_[i];
    }
  }

  /// Null: there is no room.
  PacketBuffer* take(Rank peer) noexcept {
    PacketBuffer* const one = free_;
    if (one == nullptr) return nullptr;
    free_ = one->next;
    one->peer = peer;
    ++in_use_;
    return one;
  }
  void give(PacketBuffer& one) noexcept {
    one.next = free_;
    free_ = &one;
    --in_use_;
  }
  std::size_t in_use() const noexcept { return in_use_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::vector<PacketBuffer> all_;
  PacketBuffer* free_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace aqueduct::conduits::ucx
