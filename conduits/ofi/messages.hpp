#pragma once

#include "conduits/ofi/objects.hpp"
#include "conduits/ofi/operations.hpp"
#include "conduits/ofi/wire.hpp"
#include "core/conduit.hpp"
#include "core/to_self.hpp"

#include <cstdint>

namespace aqueduct::conduits::ofi {

/// Everything that is sent by fi_send: packets, poll hints, and signals that no put can carry.
class Messages {
 public:
  Messages(const Objects& objects, Operations& operations, Peers& peers, LostPeers& lost,
           core::ToSelf& to_self, const Provider& provider, Rank me)
      : ep_(objects.ep.get()),
        operations_(operations),
        peers_(peers),
        lost_(lost),
        to_self_(to_self),
        delivered_(provider.delivered()),
        me_(me) {}

  core::Post send(Rank to, core::Bytes header, core::Bytes payload) noexcept;
  /// Asks a peer to keep polling; nothing is sent if there is no room.
  void send_hint(Rank to) noexcept { static_cast<void>(send_head(to, kIsSignal)); }
  /// Sends an empty message, with which the provider notices a broken connection. False: it does not take it now.
  bool send_ping(Rank to) noexcept { return send_head(to, kPing); }
  /// Sends the signal of a put that has arrived. Its completion is that of both.
  void send_signal(Request& request) noexcept;

  bool has_unsent() const noexcept { return unsent_ != nullptr; }
  /// Tries again to send the signals that found no room.
  void send_unsent() noexcept;
  /// Ends the unsent signals to gone peers; the provider does not have them. Returns the calls made.
  int end_unsent(core::Inbox& inbox) noexcept;

 private:
  bool send_head(Rank to, std::uint32_t bytes) noexcept;

  fid_ep* ep_;
  Operations& operations_;
  Peers& peers_;
  LostPeers& lost_;
  core::ToSelf& to_self_;
  std::uint64_t delivered_;
  Rank me_;
  Request* unsent_ = nullptr;
};

}  // namespace aqueduct::conduits::ofi
