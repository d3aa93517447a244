#include "core/peer_order.hpp"

#include "core/op.hpp"
#include "core/segment_table.hpp"

#include <utility>

namespace aqueduct::core {

bool PeerOrder::blocks(Rank peer, Next next, const Properties& network) const noexcept {
  const auto [unordered, ordered] = peers_[peer].before;
  if (unordered != 0) return true;
  if (ordered == 0) return false;
  switch (next) {
    case Next::put: return !network.put_before_put;
    case Next::packet: return !network.put_before_send;
    case Next::other: break;
  }
  return true;
}

// An operation that is still in flight after 65,535 later fences would be counted on the wrong side. Such a network
// would keep the order of puts (only then do later ones begin), and have that many puts in flight to one peer.
void PeerOrder::close_epoch(Peer& peer) noexcept {
  if (peer.after == Counts{}) return;
  for (std::size_t i = 0; i < peer.after.size(); ++i) peer.before[i] += std::exchange(peer.after[i], 0u);
  if (++peer.epoch == 0) peer.epoch = 1;
}

void PeerOrder::fence(Rank rank, bool messages, bool veil) noexcept {
  Peer& peer = peers_[rank];
  if (peer.queued != 0) {  // takes effect when the operations that wait have begun
    peer.fence_is_last = true;
    peer.messages_later = peer.messages_later || messages;
    update(rank, veil);
    return;
  }
  close_epoch(peer);
  peer.messages = peer.messages || messages;
  update(rank, veil);
}

void PeerOrder::messages_arrived(Rank rank) noexcept {
  peers_[rank].messages = false;
  update(rank, false);
}

void PeerOrder::begun(Op& op) noexcept {
  if (!op.kind->fenced || op.peer >= peers_.size()) return;
  Peer& peer = peers_[op.peer];
  ++peer.after[0];
  op.epoch = peer.epoch;
  op.keeps_order = false;
}

void PeerOrder::keeps_order_of(Op& op) noexcept {
  if (op.epoch == 0 || op.keeps_order) return;
  Peer& peer = peers_[op.peer];
  Counts& counts = op.epoch == peer.epoch ? peer.after : peer.before;
  --counts[0];
  ++counts[1];
  op.keeps_order = true;
}

void PeerOrder::ended(Op& op) noexcept {
  Peer& peer = peers_[op.peer];
  Counts& counts = op.epoch == peer.epoch ? peer.after : peer.before;
  --counts[op.keeps_order ? 1 : 0];
  op.epoch = 0;
  if (peer.fenced) update(op.peer, false);
}

bool PeerOrder::queue(Rank rank) noexcept {
  Peer& peer = peers_[rank];
  ++peer.queued;
  peer.messages = peer.messages || std::exchange(peer.messages_later, false);
  update(rank, false);  // what came before the fence may be over since the caller asked
  return std::exchange(peer.fence_is_last, false);
}

void PeerOrder::unqueue(Rank rank) noexcept {
  Peer& peer = peers_[rank];
  --peer.queued;
  if (peer.queued == 0 && std::exchange(peer.fence_is_last, false)) {
    close_epoch(peer);
    peer.messages = peer.messages || std::exchange(peer.messages_later, false);
  }
  update(rank, false);
}

void PeerOrder::forget(Rank rank) noexcept {
  Peer& peer = peers_[rank];
  peer.queued = 0;
  peer.messages = peer.messages_later = peer.fence_is_last = false;
  close_epoch(peer);
  update(rank, false);
}

/// Finds out whether the fence still holds back anything. `veil`: the windows may be veiled now, if so.
void PeerOrder::update(Rank rank, bool veil) noexcept {
  Peer& peer = peers_[rank];
  const bool in_flight = peer.before != Counts{} || peer.queued != 0;
  const bool fenced = in_flight || peer.messages;
  if (fenced != peer.fenced) {
    peer.fenced = fenced;
    fenced_ += fenced ? 1u : -1u;
  }
  const bool veiled = in_flight && (veil || peer.veiled);
  if (veiled != peer.veiled) {
    peer.veiled = veiled;
    segments_.veil(rank, veiled);
  }
}

}  // namespace aqueduct::core
