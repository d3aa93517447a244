#pragma once

#include "conduits/udp/address.hpp"
#include "conduits/udp/time.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include <sys/uio.h>

namespace aqueduct::conduits::udp {

/// One or more datagrams to one peer: `pieces` together are cut every `segment` bytes, so all datagrams but the last are
/// `segment` bytes long. No datagram is longer than 65507 bytes (65527 for IPv6).
struct Outgoing {
  const Address* to = nullptr;
  std::span<const iovec> pieces;
  std::size_t bytes = 0;      ///< of all pieces
  std::size_t segment = 0;    ///< bytes of a datagram
  bool may_fragment = false;  ///< the network layer may cut it (a packet that was built for a larger MTU)
};

/// Datagrams that came from one address in one read, `segment` bytes each, the last perhaps shorter; 0: each is as long as
/// its header says. The memory may be changed (decrypted in place), is 64-byte aligned, and is valid until the next `receive`.
struct Incoming {
  std::span<std::byte> bytes;
  std::size_t segment = 0;
};

/// What is below the protocol: a socket, or something that behaves worse, for tests.
class Carrier {
 public:
  virtual ~Carrier() = default;

  /// There is one peer and no other: the system need not look up the way to it each time.
  virtual void only_peer(const Address&) noexcept {}

  /// Most datagrams that one Outgoing may hold, and most bytes of them together.
  virtual std::size_t most_segments() const noexcept = 0;
  virtual std::size_t most_bytes() const noexcept = 0;

  /// Sends; returns how many of `batch` were taken, in order. Fewer than all: the system has no room, try later.
  /// What the system refuses for other reasons (no route, too long, firewall) counts as taken and lost: the protocol
  /// repairs it. Too long is remembered: see `too_long`.
  virtual std::size_t send(std::span<const Outgoing> batch) noexcept = 0;
  /// What has arrived, at most `most` reads' worth; empty: nothing. Never blocks.
  virtual std::span<const Incoming> receive(std::size_t most) noexcept = 0;
  /// For carriers that hold datagrams back: when `receive` may have more though the descriptor is silent.
  virtual Time deadline() const noexcept { return kNever; }
  /// Becomes readable when there is something to receive.
  virtual int descriptor() const noexcept = 0;

  struct Counters {
    std::uint64_t send_calls = 0, receive_calls = 0;  ///< system calls
    std::uint64_t sent = 0, received = 0;             ///< datagrams
    std::uint64_t sent_bytes = 0, received_bytes = 0;
    std::uint64_t no_room = 0;  ///< the system's send buffer was full
    std::uint64_t refused = 0;  ///< sends that failed otherwise
    std::uint64_t overflowed =
        0;  ///< datagrams that the system dropped for want of receive buffer (SO_RXQ_OVFL)
  };
  virtual const Counters& counters() const noexcept = 0;
  virtual int last_error() const noexcept = 0;  ///< errno of the last refused send; 0 if none
  /// The smallest datagram that the system has called too long (EMSGSIZE) since the last call, or 0.
  virtual std::size_t too_long() noexcept { return 0; }
};

}  // namespace aqueduct::conduits::udp
