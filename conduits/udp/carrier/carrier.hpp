#pragma once

#include "conduits/udp/carrier/address.hpp"
#include "conduits/udp/carrier/time.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <sys/uio.h>

namespace aqueduct::conduits::udp {

/// One or more datagrams to one peer. The concatenated `pieces` are split every `segment` bytes, so all datagrams but
/// the last are `segment` bytes long. No datagram is longer than 65507 bytes (65527 for IPv6).
struct Outgoing {
  const Address* to = nullptr;
  std::span<const iovec> pieces;
  std::size_t bytes = 0;      ///< of all pieces
  std::size_t segment = 0;    ///< bytes of one datagram
  bool may_fragment = false;  ///< IP may fragment it (a packet that was built for a larger MTU)
};

/// Datagrams from one address that one read returned. Each has `segment` bytes; the last may be shorter. If `segment`
/// is 0, each datagram is as long as its packet header says. The memory is 64-byte aligned, may be changed
/// (decryption is in place), and is valid until the next `receive`.
struct Incoming {
  std::span<std::byte> bytes;
  std::size_t segment = 0;
};

/// What carries datagrams for the protocol: a socket, or, in tests, something less reliable.
///
/// The files of carrier/ know addresses, sockets and datagrams. They include nothing of protocol/, which includes them.
class Carrier {
 public:
  virtual ~Carrier() = default;

  /// All datagrams go to this one peer, so the system may look up the route once.
  virtual void only_peer(const Address&) noexcept {}

  /// The most datagrams that one Outgoing may hold, and the most bytes in all of them.
  virtual std::size_t most_segments() const noexcept = 0;
  virtual std::size_t most_bytes() const noexcept = 0;

  /// Sends; returns how many of `batch` were taken, in order. Fewer than all: the send buffer is full, try later.
  /// Datagrams that the system refuses for other reasons (no route, too long, firewall) count as taken and lost; the
  /// protocol repairs that. Refusals for length are remembered: see `too_long`.
  virtual std::size_t send(std::span<const Outgoing> batch) noexcept = 0;
  /// Datagrams that have arrived, from at most `most` reads. Empty if there are none. Never blocks.
  virtual std::span<const Incoming> receive(std::size_t most) noexcept = 0;
  /// For carriers that delay datagrams: when `receive` may return more although the descriptor is not readable.
  virtual Time deadline() const noexcept { return kNever; }
  /// Becomes readable when there is something to receive.
  virtual int descriptor() const noexcept = 0;

  struct Counters {
    std::uint64_t send_calls = 0, receive_calls = 0;  ///< system calls
    std::uint64_t sent = 0, received = 0;             ///< datagrams
    std::uint64_t sent_bytes = 0, received_bytes = 0;
    std::uint64_t no_room = 0;   ///< the system's send buffer was full
    std::uint64_t refused = 0;   ///< datagrams whose send failed otherwise
    std::uint64_t too_long = 0;  ///< how many of these were too long (EMSGSIZE)
    /// Datagrams that the system dropped because the receive buffer was full (SO_RXQ_OVFL).
    std::uint64_t overflowed = 0;
    std::uint64_t truncated = 0;  ///< datagrams that were dropped because they were longer than a buffer
  };
  virtual const Counters& counters() const noexcept = 0;
  /// errno of the last refused send of a datagram that was not too long; 0 if none.
  virtual int last_error() const noexcept = 0;
  /// Length of the shortest datagram that the system refused as too long (EMSGSIZE) since the last call, or 0.
  virtual std::size_t too_long() noexcept { return 0; }

  /// What this system has done to datagrams, for the log and the stall report: "; 3 datagrams refused by this system, last:
  /// Network is unreachable". Empty if nothing.
  std::string troubles() const;
};

}  // namespace aqueduct::conduits::udp
