#pragma once

#include "conduits/ibv/bounced_transfer.hpp"
#include "conduits/ibv/connections.hpp"
#include "conduits/ibv/remote_access.hpp"

#include <span>

namespace aqueduct::conduits::ibv {

/// Transfers whose local memory cannot be registered: by way of slots, in pieces. That is slower, but needs nothing that
/// others may hold for ever: slots come back whenever a request ends.
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

  /// What to answer to an operation, `post` being what became of it. If its local memory cannot be registered, `transfer` goes
  /// this way.
  core::Post or_bounce(core::Post post, std::span<const BouncedTransfer> transfer) noexcept;
  /// Whether something of a peer's is under way here, or waits. Sends wait meanwhile, as they must not arrive before these bytes.
  bool has(Rank peer) const noexcept { return !waiting_.empty() && waiting_.has(peer); }
  bool any() const noexcept { return !waiting_.empty(); }
  /// In each poll.
  void go_on() noexcept {
    if (any()) [[unlikely]]
      post_pieces();
  }
  /// A lost peer's next one, which is none any more.
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
