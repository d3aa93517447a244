#pragma once

#include <aqueduct/rank.hpp>
#include <aqueduct/signal.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace aqueduct::conduits::ibv {

/// All ranks of a job run the same version, on machines of one byte order.
inline constexpr std::uint32_t kWireVersion = 3;
/// Ports that one rank uses, the first one among them.
inline constexpr std::size_t kMostRails = 8;

/// In front of every packet. Who sent it, the queue pair tells; how long it is, the completion.
struct PacketHead {
  std::uint32_t consumed =
      0;  ///< how many of the receiver's messages the sender has taken so far, modulo 2^32
  enum class Kind : std::uint32_t {
    packet,
    signal,   ///< a Signal follows, for the conduit itself
    greeting  ///< nothing follows: who called has the connection, and whoever answered may use it now
  };
  Kind kind = Kind::packet;
};
static_assert(sizeof(PacketHead) == 8);

enum class NetworkKind : std::uint8_t { infiniband, roce, iwarp };
constexpr const char* name_of(NetworkKind kind) noexcept {
  return kind == NetworkKind::infiniband ? "InfiniBand" : kind == NetworkKind::roce ? "RoCE" : "iWARP";
}

/// What a rank tells all others of a port, by the bootstrap: how to knock, and of the other rails how to reach them.
struct Address {
  std::uint32_t wire_version = kWireVersion;
  /// Number of its unreliable-datagram queue pair; only the first port has one. Of iWARP the TCP port.
  std::uint32_t listener = 0;
  std::array<std::uint8_t, 16> gid{};  ///< of iWARP the IP address
  std::uint16_t lid = 0;
  NetworkKind network = NetworkKind::infiniband;
  std::uint8_t mtu = 0;    ///< ibv_mtu
  std::uint8_t reads = 0;  ///< reads and atomics of one peer that it answers at once
  std::uint8_t zero[3]{};
};

/// What two ranks tell each other before their queue pairs can talk. Each says it until the other has understood.
struct Hello {
  std::uint64_t job = 0;
  std::uint32_t wire_version = kWireVersion;
  Rank from = 0;
  std::uint32_t pair = 0;     ///< number of the queue pair that is meant for the receiver of this
  std::uint32_t first = 0;    ///< sequence number of its first packet
  std::uint64_t counter = 0;  ///< address where the receiver may write how many messages it has taken
  std::uint32_t counter_key = 0;
  std::uint32_t credits = 0;    ///< messages for which there is room
  std::uint8_t understood = 0;  ///< I have your Hello, and my queue pair listens to yours
  std::uint8_t both = 0;        ///< and I know that yours listens to mine: no answer is needed
  std::uint8_t counts = 0;      ///< what I am told beside signals I can tell apart: see `BesidePut`
  std::uint8_t zero{};
  /// Numbers of its queue pairs on the other rails; 0: none there. They listen when the first one does.
  std::array<std::uint32_t, kMostRails - 1> rails{};
};

/// What a peer needs of a segment. Behind it follow 4 bytes for each of the other rails: `key` as it is there.
struct Key {
  std::uint64_t job = 0;
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
  std::uint32_t key = 0;
  SegmentId id = 0;
};

/// The 4 bytes that travel beside a put: a signal's slot in 18 bits, its amount in 6, and, like a packet's head, how many of
/// the receiver's messages the sender has taken, modulo 256.
///
/// Between what the receiver knows from elsewhere and what these bits mean there are at most the messages that it may send
/// without a credit's return, ahead, and those and a queue's length, behind (it may have read its cell and sent more before
/// it takes this): with no more than kMostCredits and kMostDepth the two cannot be mistaken for one another.
struct BesidePut {
  static constexpr std::uint32_t kMostCredits = 63;
  static constexpr std::uint32_t kMostDepth = 128;

  Signal signal;
  std::uint8_t consumed = 0;
};
static_assert(2 * BesidePut::kMostCredits + BesidePut::kMostDepth < 256);

/// Nothing if the signal's numbers are too large for that.
constexpr std::optional<std::uint32_t> encode(Signal what, std::uint32_t consumed) noexcept {
  if (what.slot >= (1u << 18) || what.add >= (1u << 6)) return std::nullopt;
  return (what.slot << 14) | (static_cast<std::uint32_t>(what.add) << 8) | (consumed & 0xff);
}
constexpr BesidePut decode(std::uint32_t data) noexcept {
  return {{data >> 14, data >> 8 & 0x3f}, static_cast<std::uint8_t>(data)};
}

}  // namespace aqueduct::conduits::ibv
