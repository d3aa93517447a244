#pragma once

#include "conduits/ibv/connection_manager.hpp"
#include "conduits/ibv/outstanding_requests.hpp"
#include "conduits/ibv/verbs.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace aqueduct::conduits::ibv {

/// The connection with one peer, made when something is first sent or when it knocks.
///
/// Each side grants the other credits, for messages that take a receive (packets, signals beside puts): as many as it
/// has posted receives for. Taken messages give them back, by a number in the packets that go the other way, and by a
/// small write where none go: so nobody ever finds the receiver not ready.
struct Link {
  Link(Rank peer_rank, std::uint32_t depth) : peer(peer_rank), outstanding(depth) {}

  Rank peer;
  bool ready = false;          ///< both queue pairs listen: anything may be posted
  bool connected = false;      ///< mine does
  bool connecting = false;     ///< is in the list of those to say Hello to again
  bool return_queued = false;  ///< is in the list of those that credits are to be given back to
  bool counts = false;         ///< I make out what signals say of credits
  bool peer_counts = false;
  std::uint32_t first = 0;  ///< sequence number of my first packet
  Owned<ibv_ah> address_handle;
  Owned<ibv_qp> pair;  ///< null: the peer is gone
  Call call;           ///< over iWARP: the connection, or the attempt at one; ends before the pair
  Call held;           ///< of the peer's, until mine has come to nothing
  Hello held_hello;
  bool asked = false;          ///< the call is mine, and not answered
  bool heard = false;          ///< something has arrived
  int hung_up = 0;             ///< why the call has ended: an errno
  std::uint32_t refusals = 0;  ///< in a row, of calls
  OutstandingRequests outstanding;
  std::uint32_t unsignaled = 0;  ///< the latest that will not tell their end
  std::uint64_t posted_in = 0;   ///< the round of poll after which something was last put

  std::uint32_t sent = 0;      ///< messages that took a credit
  std::uint32_t returned = 0;  ///< of them, those whose credit came back
  std::uint32_t granted = 0;
  std::uint32_t taken = 0;            ///< messages of the peer whose receive has been posted again
  std::uint32_t reported = 0;         ///< of them, those it has been told of
  std::uint32_t granted_to_peer = 0;  ///< credits given to the peer
  std::uint64_t counter = 0;          ///< where to tell
  std::uint32_t counter_key = 0;

  std::chrono::steady_clock::time_point next_hello{};
  std::chrono::nanoseconds pause{0};

  bool has_credit() const noexcept { return sent - returned < granted; }
  void credits_came(std::uint32_t taken_by_peer) noexcept {
    if (static_cast<std::int32_t>(taken_by_peer - returned) > 0) returned = taken_by_peer;
  }
  /// The same, of which there are 8 bits.
  void credits_came(std::uint8_t taken_by_peer) noexcept {
    const std::uint8_t ahead = static_cast<std::uint8_t>(taken_by_peer - returned);
    if (counts && ahead <= granted) returned += ahead;
  }
  std::uint32_t not_returned() const noexcept { return taken - reported; }
  bool return_is_due() const noexcept { return not_returned() >= std::max(granted_to_peer / 2, 1u); }
};

}  // namespace aqueduct::conduits::ibv
