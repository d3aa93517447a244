#pragma once

#include <aqueduct/rank.hpp>

#include "core/conduit.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace aqueduct::core {

struct Op;
class SegmentTable;

/// What this rank has in flight to each peer, before and after the latest fence (include/aqueduct/order.hpp). The layers
/// ask it whether an operation may begin.
///
/// Nothing is counted until the first fence. While a fence holds something back, the peer's windows are veiled: inline
/// puts then take the cold path, which asks here. See docs/decisions/0061-fences.md.
class PeerOrder {
 public:
  /// What would begin, by the orders that networks keep.
  ///
  /// put     a native put of at most max_ordered bytes, without a signal
  /// packet  a message, or an operation of the reference layer
  /// other   anything else, a store to mapped memory included
  enum class Next : std::uint8_t { put, packet, other };

  PeerOrder(Rank ranks, SegmentTable& segments) : segments_(segments), peers_(ranks) {}

  /// Whether a fence may hold back anything now. If not, no other question has to be asked.
  bool active() const noexcept { return fenced_ != 0; }
  /// Whether such an operation on the peer must wait: for operations from before the fence, or behind others that wait.
  bool holds(Rank peer, Next next, const Properties& network) const noexcept {
    return active() && (peers_[peer].queued != 0 || blocks(peer, next, network));
  }
  /// As holds, apart from the operations that wait already.
  bool blocks(Rank peer, Next next, const Properties& network) const noexcept;
  /// Whether messages from before the fence may not have arrived yet. Only the layer of messages knows.
  bool messages(Rank peer) const noexcept { return peers_[peer].messages; }
  /// Whether inline calls must not see the peer's windows.
  bool veiled(Rank peer) const noexcept { return peers_[peer].veiled; }

  /// Puts a fence behind all that has begun. `messages`: messages may still be on their way there, and the conduit does
  /// not keep their order.
  void fence(Rank peer, bool messages, bool veil) noexcept;
  /// The messages from before the fence have arrived.
  void messages_arrived(Rank peer) noexcept;

  // For the operations; op.cpp and rma/held.cpp call these.

  /// Counts an operation that begins, if fences cover its kind.
  void begun(Op& op) noexcept;
  /// The network keeps the order of this operation: a plain native put.
  void keeps_order_of(Op& op) noexcept;
  /// A counted operation is over, or is going to wait.
  void ended(Op& op) noexcept;
  /// An operation waits. Returns whether a fence stands between it and the operation that waits before it.
  bool queue(Rank peer) noexcept;
  /// The first operation that waits is about to begin, and a fence stands before it.
  void pass_fence(Rank peer) noexcept { close_epoch(peers_[peer]); }
  /// The first operation that waits has begun.
  void unqueue(Rank peer) noexcept;
  /// The peer is lost: nothing is held back any more.
  void forget(Rank peer) noexcept;

 private:
  using Counts = std::array<std::uint32_t, 2>;  // [whether the network keeps the order]
  struct Peer {
    Counts before{};              ///< in flight, from before the fence
    Counts after{};               ///< in flight, begun since
    std::uint32_t queued = 0;     ///< operations that wait
    std::uint16_t epoch = 1;      ///< of `after`; never 0
    bool messages = false;        ///< messages from before the fence may be on their way
    bool fence_is_last = false;   ///< the latest fence stands behind the operations that wait
    bool messages_later = false;  ///< … and messages may be on their way
    bool fenced = false;          ///< counted in `fenced_`
    bool veiled = false;
  };

  static void close_epoch(Peer& peer) noexcept;
  void update(Rank rank, bool veil) noexcept;

  SegmentTable& segments_;
  std::vector<Peer> peers_;
  Rank fenced_ = 0;  ///< number of peers for which a fence may hold back something
};

}  // namespace aqueduct::core
