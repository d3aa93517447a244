#pragma once

#include "core/conduit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

namespace aqueduct::core {

/// Packets that came outside of a poll: what a rank sends to itself, and what arrives while the progress thread stands in
/// for it. They wait for the next poll.
class Arrivals {
 public:
  bool empty() const noexcept { return arrived_.empty(); }

  /// Makes sure that a packet of so many bytes can be added. False: there is no memory.
  bool make_room(std::size_t bytes) noexcept try {
    const std::size_t all = arrived_.size() + sizeof(Head) + bytes + 7;
    if (arrived_.capacity() < all) arrived_.reserve(std::max(all, 2 * arrived_.capacity()));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }

  /// False: there is no memory.
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

  /// Delivers what was there at the call, not what its handlers add; returns how many packets.
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
  /// The next one is aligned, too.
  static constexpr std::size_t room_for(const Head& head) noexcept {
    return (head.bytes + std::size_t{7}) & ~std::size_t{7};
  }

  std::vector<std::byte> arrived_;
  std::vector<std::byte> delivering_;
};

}  // namespace aqueduct::core
