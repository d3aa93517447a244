#pragma once

#include "conduits/udp/pool.hpp"
#include "conduits/udp/wire.hpp"
#include "core/conduit.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

/// What waits to be sent, or to be acknowledged. Three kinds, each from a pool of its endpoint.
namespace aqueduct::conduits::udp {

/// Header, and the largest acknowledgement that travels with frames: in front of a buffer's frames.
inline constexpr std::size_t kHeadroom = sizeof(PacketHeader) + sizeof(AckFrame) + 8 * sizeof(AckRange);
static_assert(kHeadroom % 64 == 0);
inline constexpr std::size_t kHeadroomRanges = 8;

/// Small things on their way to one peer in one packet: messages, short puts, requests for gets.
struct Bundle {
  static constexpr std::size_t kBytes = 1920;
  static constexpr std::size_t kMostTokens = 72;

  Bundle* next = nullptr;
  std::uint16_t used = 0;    ///< bytes of frames
  std::uint16_t tokens = 0;  ///< puts that are over when this is acknowledged
  std::uint8_t flags = 0;    ///< of the packet's header
  std::array<core::Token, kMostTokens> token;
  alignas(64) std::byte memory[kHeadroom + kBytes];

  std::byte* frames() noexcept { return memory + kHeadroom; }
};

/// One message that is too long for a bundle; in one packet where the path carries it, else in fragments.
struct Parcel {
  static constexpr std::size_t kBytes = kMostMessage;

  Parcel* next = nullptr;
  std::uint32_t bytes = 0;           ///< of the message
  std::uint32_t cut = 0;             ///< of these: given to packets
  std::uint32_t unacknowledged = 0;  ///< packets
  std::uint32_t id = 0;
  alignas(64) std::byte memory[kHeadroom + sizeof(MessageFrame) + kBytes + 56];

  std::byte* frames() noexcept { return memory + kHeadroom; }
  std::byte* message() noexcept { return frames() + sizeof(MessageFrame); }
};

/// Bytes that leave straight from where they lie: a put's, or what a peer's get asked for.
struct Stream {
  Stream* next = nullptr;
  bool reply = false;
  bool refused = false;  ///< a reply without bytes: what was asked for does not exist
  bool has_signal = false;
  core::Token token = 0;  ///< of a put
  const std::byte* from = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t cut = 0;           ///< given to packets
  std::uint32_t acknowledged = 0;  ///< bytes
  std::uint32_t segment = 0;
  std::uint32_t id = 0;  ///< of the put with a signal, or the get
  std::uint64_t offset = 0;
  Signal signal;
};

/// Puts and pieces of gets up to this size travel in bundles.
inline constexpr std::size_t kMostInline = 512;

}  // namespace aqueduct::conduits::udp
