#pragma once

#include "core/conduit.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace aqueduct::conduits::ucx {

/// Packets that a rank sends to itself. They wait for its next poll, since a send may not deliver.
class SelfQueue {
 public:
  bool empty() const noexcept { return arrived_.empty(); }

  /// Errors: false when there is no memory.
  bool add(core::Bytes header, core::Bytes payload) noexcept try {
    const std::uint64_t bytes = header.size() + payload.size();
    const std::size_t at = arrived_.size();
    arrived_.resize(at + sizeof bytes + ((bytes + 7) & ~std::uint64_t{7}));
    std::byte* to = arrived_.data() + at;
    std::memcpy(to, &bytes, sizeof bytes);
    std::memcpy(to + sizeof bytes, header.data(), header.size());
    if (!payload.empty()) std::memcpy(to + sizeof bytes + header.size(), payload.data(), payload.size());
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  /// Delivers what was there at the call, not what its handlers add; returns how many packets.
  int deliver(core::Inbox& inbox, Rank me) noexcept {
    arrived_.swap(delivering_);
    int packets = 0;
    for (std::size_t at = 0; at < delivering_.size(); ++packets) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, delivering_.data() + at, sizeof bytes);
      at += sizeof bytes;
      inbox.packet(me, {delivering_.data() + at, bytes});
      at += (bytes + 7) & ~std::uint64_t{7};
    }
    delivering_.clear();  // keeps its memory for the next time
    return packets;
  }

 private:
  std::vector<std::byte> arrived_;
  std::vector<std::byte> delivering_;
};

}  // namespace aqueduct::conduits::ucx
