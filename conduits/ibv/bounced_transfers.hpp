#pragma once

#include "conduits/ibv/bounced_transfer.hpp"
#include "conduits/ibv/connections.hpp"
#include "conduits/ibv/remote_access.hpp"

#include <span>

namespace aqueduct::conduits::ibv {

/// Transfers whose local memory cannot be registered. They go through bounce buffers, in pieces. That is slower, but it
/// cannot wait for ever: a bounce buffer becomes free whenever a request ends, while registrations may be held by
/// others.
class BouncedTransfers {
 public:
  BouncedTransfers(const Environment& env, const Memory& memory, LocalBuffers& buffers, Requests& requests,
                   RemoteAccess& access, Connections& connections)
      : env_(env),
        memory_(memory),
        buffers_(buffers),
        requests_(requests),
        access_(access),
        connections_(connections) {}

  /// Returns the answer to an operation whose post gave `post`. If its local memory could not be registered
  /// (no_memory), queues `transfer` here.
  core::Post or_bounce(core::Post post, std::span<const BouncedTransfer> transfer) noexcept;
  /// Whether transfers with this peer are queued. Messages to it must wait, since they must not arrive before these
  /// bytes.
  bool has(Rank peer) const noexcept { return !waiting_.empty() && waiting_.has(peer); }
  bool any() const noexcept { return !waiting_.empty(); }
  /// Called in each poll: posts the next pieces.
  void go_on() noexcept {
    if (any()) [[unlikely]]
      post_pieces();
  }
  /// Removes and returns the next transfer with a lost peer.
  std::optional<BouncedTransfer> take(Rank peer) noexcept { return waiting_.take(peer); }

 private:
  void post_pieces() noexcept;
  core::Post post_piece(BouncedTransfer& one) noexcept;
  core::Post post_signal(BouncedTransfer& one) noexcept;

  const Environment& env_;
  const Memory& memory_;
  LocalBuffers& buffers_;
  Requests& requests_;
  RemoteAccess& access_;
  Connections& connections_;
  BounceQueue waiting_;
  bool warned_ = false;
};

}  // namespace aqueduct::conduits::ibv
