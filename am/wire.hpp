#pragma once

#include <aqueduct/am.hpp>

#include "core/conduit.hpp"

#include <cstdint>

namespace aqueduct::am {

/// What a packet is. Requests cost their sender a credit; a reply gives it back, and so does a word of thanks.
enum class PacketKind : std::uint8_t { request = 1, reply = 2, credits = 3 };

/// Starts every packet. Little-endian, as all machines that we know to run this are; padded by hand.
struct PacketHeader {
  PacketKind kind;
  AmCategory category;
  HandlerId handler;
  std::uint16_t credits;     ///< given back to the receiver
  std::uint16_t args_bytes;  ///< of the argument struct, which follows (after LongTarget, if long)
  std::uint32_t payload_bytes;
  std::uint32_t reserved;
};
static_assert(sizeof(PacketHeader) == 16);

/// Follows the header of a long message: where its payload goes, or already is.
struct LongTarget {
  std::uint64_t offset;
  std::uint64_t bytes;  ///< of the whole payload; the packet carries all of it, or none when it is in place
  SegmentId segment;
  std::uint32_t reserved;
};
static_assert(sizeof(LongTarget) == 24);

constexpr std::size_t kMaxArgs = 64;
/// Header, target and arguments together, rounded so that the payload is 8-byte aligned.
constexpr std::size_t kMaxHead = sizeof(PacketHeader) + sizeof(LongTarget) + kMaxArgs;
static_assert(kMaxHead <= core::kMostHeader);

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }

constexpr bool is_long(AmCategory c) noexcept {
  return c == AmCategory::long_request || c == AmCategory::long_reply;
}
constexpr bool is_medium(AmCategory c) noexcept {
  return c == AmCategory::medium_request || c == AmCategory::medium_reply;
}
constexpr bool is_request(AmCategory c) noexcept { return c <= AmCategory::long_request; }

}  // namespace aqueduct::am
