#pragma once

#include "am/messages.hpp"

#include <cstddef>

// The short ways of requests and replies. Each is inlined into the one function that programs call, so that a message is
// two calls: that function, and the conduit's `send`.

namespace aqueduct::am {

/// Sends a packet that returns so many credits. False: there was no room, and nothing has happened. The header is put
/// together in words, as the conduit copies it (am/head.hpp).
[[gnu::always_inline]] inline bool Messages::send_quickly(Peer& peer, Rank to, PacketKind kind,
                                                          std::uint64_t credits, MessageName name,
                                                          std::uint64_t* head, Bytes payload) noexcept {
  const std::uint64_t args_bytes = name >> 16 & 0xffff;
  head[0] = static_cast<std::uint64_t>(kind) | (name & 0xff00) | name >> 48 << 16 | credits << 32 |
            args_bytes << 48;
  head[1] = payload.size();
  const Bytes bytes(reinterpret_cast<const std::byte*>(head), sizeof(PacketHeader) + padded(args_bytes));
  const Post post = peer.conduit->send(to, bytes, payload, 0);
  if (post.kind >= Post::Kind::retry) [[unlikely]]
    return false;
  ++state_.statistics.packets_sent;
  state_.statistics.payload_bytes_sent += payload.size();
  if (post.kind == Post::Kind::posted) [[unlikely]]
    count_posted(0);
  return true;
}
static_assert(offsetof(PacketHeader, kind) == 0 && offsetof(PacketHeader, category) == 1 &&
              offsetof(PacketHeader, handler) == 2 && offsetof(PacketHeader, credits) == 4 &&
              offsetof(PacketHeader, args_bytes) == 6 && offsetof(PacketHeader, payload_bytes) == 8 &&
              offsetof(PacketHeader, raw) == 12);

[[gnu::always_inline]] inline bool Messages::request_quickly(Rank to, MessageName name, std::uint64_t* head,
                                                             Bytes payload) noexcept {
  Peer& peer = peers_[to];
#ifdef AQUEDUCT_CHECKED
  if (payload.data() == nullptr && !payload.empty()) return false;  // the long way refuses it
#endif
  // A lost peer has no credits.
  if (peer.credits == 0 || !knows(name) || payload.size() > peer.quick) [[unlikely]]
    return false;
  if (!send_quickly(peer, to, PacketKind::request, peer.owed, name, head, payload)) [[unlikely]]
    return false;
  --peer.credits;
  peer.owed = 0;
  return true;
}

[[gnu::always_inline]] inline bool Messages::reply_quickly(Incoming& incoming, MessageName name,
                                                           std::uint64_t* head, Bytes payload) noexcept {
  const Rank to = incoming.source;
  Peer& peer = peers_[to];
#ifdef AQUEDUCT_CHECKED
  if (payload.data() == nullptr && !payload.empty()) return false;
#endif
  if (!incoming.may_reply() || !knows(name) || payload.size() > peer.quick || peer.lost) [[unlikely]]
    return false;
  if (!send_quickly(peer, to, PacketKind::reply, peer.owed + std::uint64_t{1}, name, head, payload))
      [[unlikely]]
    return false;
  peer.owed = 0;
  incoming.replied = true;
  return true;
}

}  // namespace aqueduct::am
