#pragma once

#include "core/conduit.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <new>
#include <vector>

namespace aqueduct::conduits::ucx {

class Messages;

/// A buffer for one packet. UCX reads it until it calls back.
struct PacketBuffer {
  PacketBuffer* next = nullptr;
  Messages* owner = nullptr;
  Rank peer = kNoRank;
  std::byte* bytes = nullptr;
};

/// Buffers for all packets that an endpoint may have outstanding. The buffer that was freed last is used first, so an
/// endpoint whose packets leave at once touches few buffers.
class PacketPool {
 public:
  PacketPool(Messages& owner, std::size_t count, std::size_t bytes) : owner_(owner), bytes_(bytes) {
    add(count);
  }

  /// Replaces `count` buffers that UCX never gives back, if there is memory.
  void replace(std::size_t count) noexcept try { add(count); } catch (const std::bad_alloc&) {
  }

  /// Null: no room.
  PacketBuffer* acquire(Rank peer) noexcept {
    PacketBuffer* const one = free_;
    if (one == nullptr) return nullptr;
    free_ = one->next;
    one->peer = peer;
    ++in_use_;
    return one;
  }
  void release(PacketBuffer& one) noexcept {
    one.next = free_;
    free_ = &one;
    --in_use_;
  }
  std::size_t available() const noexcept { return all_.size() - in_use_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{64}); }
  };
  void add(std::size_t count) {
    std::byte* at = memory_.emplace_back(new (std::align_val_t{64}) std::byte[count * bytes_]).get();
    for (; count-- > 0; at += bytes_) {
      all_.push_back({free_, &owner_, kNoRank, at});
      free_ = &all_.back();
    }
  }

  Messages& owner_;
  std::size_t bytes_;
  std::vector<std::unique_ptr<std::byte[], Free>> memory_;
  std::deque<PacketBuffer> all_;  // stable addresses
  PacketBuffer* free_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace aqueduct::conduits::ucx
