#pragma once

#include "conduits/udp/protocol/announcement.hpp"
#include "conduits/udp/protocol/pool.hpp"
#include "conduits/udp/protocol/wire.hpp"
#include "core/conduit.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

/// Buffers of data that waits to be sent or acknowledged. Three kinds, each from a pool of the endpoint.
namespace aqueduct::conduits::udp {

/// Room in front of a buffer's frames: for the packet header and the largest acknowledgement that travels with frames.
inline constexpr std::size_t kHeadroom = sizeof(PacketHeader) + sizeof(AckFrame) + 8 * sizeof(AckRange);
static_assert(kHeadroom % 64 == 0);
inline constexpr std::size_t kHeadroomRanges = 8;

/// One packet of small frames to one peer: short messages, short puts, updates of words, get requests.
struct Bundle {
  static constexpr std::size_t kBytes = 1920;
  static constexpr std::size_t kMostTokens = 72;

  Bundle* next = nullptr;
  std::uint16_t used = 0;    ///< bytes of frames
  std::uint16_t tokens = 0;  ///< puts and updates that complete when this packet is acknowledged
  std::uint8_t flags = 0;    ///< flags of the packet's header
  std::array<core::Token, kMostTokens> token;
  alignas(64) std::byte memory[kHeadroom + kBytes];

  std::byte* frames() noexcept { return memory + kHeadroom; }
};

/// A message that is too long for a bundle. It travels in one packet if the path carries it, else in fragments.
struct LongMessage {
  static constexpr std::size_t kBytes = kMostMessage;

  LongMessage* next = nullptr;
  std::uint32_t bytes = 0;           ///< of the message
  std::uint32_t next_offset = 0;     ///< bytes that have been put into packets
  std::uint32_t unacknowledged = 0;  ///< packets of it
  std::uint32_t id = 0;
  alignas(64) std::byte memory[kHeadroom + sizeof(MessageFrame) + kBytes + 56];

  std::byte* frames() noexcept { return memory + kHeadroom; }
  std::byte* message() noexcept { return frames() + sizeof(MessageFrame); }
};

/// A bulk transfer: bytes that are sent without a copy, from the caller's memory (put) or from a segment (reply to a
/// get). A put whose source must be free at once is sent from a copy.
struct BulkTransfer {
  BulkTransfer* next = nullptr;
  LongMessage* copy = nullptr;  ///< the buffer that `from` points into; null: the caller's memory
  bool reply = false;
  bool unhurried = false;  ///< a put whose acknowledgement nobody waits for
  bool refused = false;    ///< a reply without bytes: the get was outside the segment
  core::Token token = 0;   ///< of a put
  const std::byte* from = nullptr;
  std::uint64_t word =
      0;  ///< a reply of one word: `from` is its place, so that the system does not read the segment
  std::uint32_t bytes = 0;
  std::uint32_t next_offset = 0;   ///< bytes that have been put into packets
  std::uint32_t acknowledged = 0;  ///< bytes
  std::uint32_t segment = 0;
  std::uint32_t id = 0;  ///< of the put with a signal, or the get
  std::uint64_t offset = 0;
  Announcement signal;  ///< of a put
};

/// The shortest packet size that a setting or an interface may ask for. Specified: every IPv4 path carries packets of 576 bytes.
inline constexpr std::size_t kLeastPacket = 512;

/// Puts and replies to gets up to this size travel in bundles, where they fit one.
inline constexpr std::size_t kMostInline = 512;
/// Puts up to this size can be copied, so that their source is free at once. Measured over loopback: to copy 16 KiB takes about 1 us,
/// and a collective operation that waits for the acknowledgement instead takes 4 to 5 us longer.
inline constexpr std::size_t kMostCopied = 16384;
static_assert(kMostCopied <= LongMessage::kBytes);

}  // namespace aqueduct::conduits::udp
