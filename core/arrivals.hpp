#pragma once

#include "core/conduit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

namespace aqueduct::core {

/// Packets that are kept for the next poll: those that a rank sends to itself, and those that a progress thread takes
/// while the owner is away. A conduit delivers packets only inside poll.
class Arrivals {
 public:
  bool empty() const noexcept { return arrived_.empty(); }

  /// Makes room for a packet of `bytes` bytes, so that the next `add` cannot fail. False: there is no memory.
  bool make_room(std::size_t bytes) noexcept try {
    const std::size_t all = arrived_.size() + sizeof(Head) + bytes + 7;
    if (arrived_.capacity() < all) arrived_.reserve(std::max(all, 2 * arrived_.capacity()));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  /// Adds a packet, which is copied. False: there is no memory.
  bool add(Rank from, Bytes header, Bytes payload) noexcept try {
    const Head head{from, static_cast<std::uint32_t>(header.size() + payload.size())};
    const std::size_t at = arrived_.size();
    arrived_.resize(at + sizeof head + room_for(head));
    std::byte* to = arrived_.data() + at;
    std::memcpy(to, &head, sizeof head);
    if (!header.empty()) std::memcpy(to + sizeof head, header.data(), header.size());
    if (!payload.empty()) std::memcpy(to + sizeof head + header.size(), payload.data(), payload.size());
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  /// Delivers the packets that were added before this call, and returns their number. Packets that their handlers add
  /// wait for the next call, so that a handler that sends to its own rank cannot keep the caller here.
  int deliver(Inbox& inbox) noexcept {
    arrived_.swap(delivering_);
    int packets = 0;
    for (std::size_t at = 0; at < delivering_.size(); ++packets) {
      Head head;
      std::memcpy(&head, delivering_.data() + at, sizeof head);
      at += sizeof head;
      inbox.packet(head.from, {delivering_.data() + at, head.bytes});
      at += room_for(head);
    }
    delivering_.clear();  // keeps its memory for the next time
    return packets;
  }

 private:
  struct Head {
    Rank from;
    std::uint32_t bytes;
  };
  static_assert(sizeof(Head) == 8);
  /// Rounded up, so that the next packet is aligned to 8 bytes too.
  static constexpr std::size_t room_for(const Head& head) noexcept {
    return (head.bytes + std::size_t{7}) & ~std::size_t{7};
  }

  std::vector<std::byte> arrived_;
  std::vector<std::byte> delivering_;
};

}  // namespace aqueduct::core
