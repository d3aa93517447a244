#pragma once

#include "conduits/ibv/connection_manager.hpp"
#include "conduits/ibv/outstanding_requests.hpp"
#include "conduits/ibv/verbs.hpp"
#include "core/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace aqueduct::conduits::ibv {

/// The connection with one peer, made at the first post or when the peer requests it.
///
/// Each side grants the other credits for messages that consume a receive (packets, writes with immediate data): one
/// for each receive that it has posted. Credits return as a number in the packets that go the other way, or by a small
/// write if none go. So no message ever finds the receiver not ready.
struct Connection {
  Connection(Rank peer_rank, std::uint32_t depth) : peer(peer_rank), outstanding(depth) {}

  Rank peer;
  bool ready = false;          ///< both queue pairs are connected: requests may be posted
  bool connected = false;      ///< my queue pair is connected
  bool connecting = false;     ///< is in the list of connections that are being made
  bool return_queued = false;  ///< is in the list of peers to whom credits will be returned
  bool counts = false;         ///< I can use the credits that the peer's signals carry: see BesidePut
  bool peer_counts = false;    ///< the peer can use those that my signals carry
  std::uint32_t first = 0;     ///< packet sequence number (PSN) at which my queue pair starts
  Owned<ibv_ah> address_handle;
  Owned<ibv_qp> pair;  ///< null: the peer is lost
  CmId cm_id;  ///< iWARP: the adapter's connection, or an attempt at one; destroyed before the queue pair
  CmId held_request;  ///< iWARP: the peer's request, held until mine is rejected
  Hello held_hello;
  bool requested = false;                ///< iWARP: `cm_id` is my request, and is not answered yet
  bool heard = false;                    ///< a message has arrived
  bool answered = false;                 ///< iWARP: a read has ended, so the peer's device takes what I send
  core::Clock::time_point next_probe{};  ///< iWARP, until then: when the next probe may go
  std::chrono::nanoseconds probe_pause{0};
  int disconnected = 0;        ///< iWARP: the errno with which `cm_id` has ended; 0: it has not
  std::uint32_t refusals = 0;  ///< iWARP: how many requests in a row were refused
  OutstandingRequests outstanding;
  std::uint32_t unsignaled = 0;  ///< requests since the last signaled one
  std::uint64_t posted_in = 0;   ///< the round of poll in which the last put was posted

  std::uint64_t sent = 0;             ///< messages that consumed a credit
  std::uint64_t returned = 0;         ///< of those, how many have their credit back
  std::uint32_t granted = 0;          ///< credits that the peer has granted
  std::uint64_t taken = 0;            ///< messages of the peer whose receives are posted again
  std::uint64_t reported = 0;         ///< of those, how many the peer knows of
  std::uint32_t granted_to_peer = 0;  ///< credits granted to the peer
  std::uint64_t counter = 0;          ///< where the peer wants `taken` to be written
  std::uint32_t counter_key = 0;

  core::Clock::time_point next_way{};   ///< when the device may look for a way to the peer again
  core::Clock::time_point way_until{};  ///< until when it looks; none: it has found one, or has not looked
  core::Clock::time_point next_hello{};
  std::chrono::nanoseconds pause{0};

  bool has_credit() const noexcept { return sent - returned < granted; }
  /// The peer says how many of my messages it has taken. A number that is older than the known one changes nothing, however old it
  /// is: the counter in memory is written only if no packet carries the number, so it may be billions of messages behind.
  void credits_came(std::uint64_t taken_by_peer) noexcept {
    if (taken_by_peer > returned && taken_by_peer <= sent) returned = taken_by_peer;
  }
  /// The same, if only the lowest 32 bits of the number are known.
  void credits_came(std::uint32_t taken_by_peer) noexcept {
    const auto ahead = static_cast<std::uint32_t>(taken_by_peer - static_cast<std::uint32_t>(returned));
    if (ahead <= sent - returned) returned += ahead;
  }
  /// The same, if only the lowest 8 bits of the number are known.
  void credits_came(std::uint8_t taken_by_peer) noexcept {
    const std::uint8_t ahead = static_cast<std::uint8_t>(taken_by_peer - returned);
    if (counts && ahead <= granted) returned += ahead;
  }
  std::uint64_t not_returned() const noexcept { return taken - reported; }
  bool return_is_due() const noexcept { return not_returned() >= std::max(granted_to_peer / 2, 1u); }
};

}  // namespace aqueduct::conduits::ibv
