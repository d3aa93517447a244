#pragma once

#include <aqueduct/global_ptr.hpp>
#include <aqueduct/rank.hpp>
#include <aqueduct/signal_types.hpp>

#include <array>
#include <cstdint>
#include <optional>

namespace aqueduct::conduits::ibv {

/// All ranks of a job must run the same version, on machines of the same byte order.
inline constexpr std::uint32_t kWireVersion = 3;
/// Ports that one rank uses at most, with the first one.
inline constexpr std::size_t kMostRails = 8;

/// In front of every packet. The sender follows from the queue pair, the length from the completion.
struct PacketHead {
  std::uint32_t consumed = 0;  ///< the receiver's messages that the sender has taken so far, modulo 2^32
  enum class Kind : std::uint32_t {
    packet,
    signal,   ///< a Signal follows
    greeting  ///< empty: tells the accepting side of an iWARP connection that it may send
  };
  Kind kind = Kind::packet;
};
static_assert(sizeof(PacketHead) == 8);

enum class NetworkKind : std::uint8_t { infiniband, roce, iwarp };
constexpr const char* name_of(NetworkKind kind) noexcept {
  return kind == NetworkKind::infiniband ? "InfiniBand" : kind == NetworkKind::roce ? "RoCE" : "iWARP";
}

/// The address of a port, sent to all ranks by the bootstrap: for the first port where to request connections, for a
/// rail how to reach it.
struct Address {
  std::uint32_t wire_version = kWireVersion;
  /// Number of the listener's queue pair, only for the first port. On iWARP the TCP port.
  std::uint32_t listener = 0;
  std::array<std::uint8_t, 16> gid{};  ///< on iWARP the IP address
  std::uint16_t lid = 0;
  NetworkKind network = NetworkKind::infiniband;
  std::uint8_t mtu = 0;    ///< ibv_mtu
  std::uint8_t reads = 0;  ///< reads and atomics of one peer that it answers in parallel
  std::uint8_t zero[3]{};
};

/// What two ranks exchange to connect their queue pairs. Each repeats it until the other has confirmed.
struct Hello {
  std::uint64_t job = 0;
  std::uint32_t wire_version = kWireVersion;
  Rank from = 0;
  std::uint32_t pair = 0;     ///< number of the sender's queue pair for the receiver
  std::uint32_t first = 0;    ///< packet sequence number at which it starts
  std::uint64_t counter = 0;  ///< address to which the receiver writes how many messages it has taken
  std::uint32_t counter_key = 0;
  std::uint32_t credits = 0;    ///< messages that the receiver may send: the sender has receives for them
  std::uint8_t understood = 0;  ///< the sender has the receiver's Hello, and its queue pair is connected
  std::uint8_t both = 0;        ///< and it knows that the receiver is connected too: no answer is needed
  std::uint8_t counts = 0;      ///< the sender can use credits beside signals: see BesidePut
  std::uint8_t zero{};
  /// Numbers of the sender's queue pairs on its rails; 0: none there. They are connected together with the first one.
  std::array<std::uint32_t, kMostRails - 1> rails{};
};

/// What a peer needs to access a segment. Behind it follow 4 bytes for each rail: the remote key there.
struct Key {
  std::uint64_t job = 0;
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
  std::uint32_t key = 0;
  SegmentId id = 0;
};

/// The immediate data of a put with a signal: the signal's slot in 18 bits, its amount in 6, and in 8 bits how many of
/// the receiver's messages the sender has taken, modulo 256, as in a packet's head.
///
/// The receiver restores the full number from the one that it knows. This number can be ahead of the known one by at
/// most the messages that the receiver may send without a credit return. It can be behind by those and the length of a
/// queue, because the receiver may have read its counter and sent more before it takes this one. With at most
/// kMostCredits and kMostDepth the two cases cannot be confused.
struct BesidePut {
  static constexpr std::uint32_t kMostCredits = 63;
  static constexpr std::uint32_t kMostDepth = 128;

  Signal signal;
  std::uint8_t consumed = 0;
};
static_assert(2 * BesidePut::kMostCredits + BesidePut::kMostDepth < 256);

/// Nothing if the signal's numbers are too large.
constexpr std::optional<std::uint32_t> encode(Signal what, std::uint32_t consumed) noexcept {
  if (what.slot >= (1u << 18) || what.add >= (1u << 6)) return std::nullopt;
  return (what.slot << 14) | (static_cast<std::uint32_t>(what.add) << 8) | (consumed & 0xff);
}
constexpr BesidePut decode(std::uint32_t data) noexcept {
  return {{data >> 14, data >> 8 & 0x3f}, static_cast<std::uint8_t>(data)};
}

}  // namespace aqueduct::conduits::ibv
