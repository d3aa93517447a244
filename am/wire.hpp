#pragma once

#include <aqueduct/am.hpp>

#include "core/conduit.hpp"

#include <cstdint>

namespace aqueduct::am {

/// The kind of a packet. A request takes a credit of its sender. Every kind can return credits to its receiver;
/// `credits` does nothing else.
enum class PacketKind : std::uint8_t { request = 1, reply = 2, credits = 3 };

/// Starts every packet. Little-endian, as are all machines that are known to run this.
struct PacketHeader {
  PacketKind kind;
  AmCategory category;
  HandlerId handler;         ///< of a raw message: the low 16 bits of its space
  std::uint16_t credits;     ///< number of credits that the receiver gets back
  std::uint16_t args_bytes;  ///< size of the argument struct, which follows (after LongTarget, if long)
  std::uint32_t payload_bytes;
  std::uint32_t raw;  ///< 0, or what a raw message has besides (raw_word)
};
static_assert(sizeof(PacketHeader) == 16);

/// Follows the header of a long message: the place of its payload in the target's segment.
struct LongTarget {
  std::uint64_t offset;
  std::uint64_t bytes;  ///< of the whole payload: the packet has all of it, or none if it is already in place
  SegmentId segment;
  std::uint32_t reserved;
};
static_assert(sizeof(LongTarget) == 24);

// A raw message names its space by 23 bits of a hash of the space's name. A space is a number of 24 bits: bit 23 is set,
// so that no space is 0; bits 0 to 15 are never the number of a layer's handler. The header has bits 0 to 15 of it in
// `handler`, and the rest in `raw`: bits 0 to 15 the tag, 16 to 23 the number of the handler, 24 to 31 bits 16 to 23 of
// the space.
constexpr std::uint32_t raw_word(std::uint32_t space, std::uint8_t number, std::uint16_t tag) noexcept {
  return (space >> 16 << 24) | (std::uint32_t{number} << 16) | tag;
}
constexpr std::uint32_t raw_space(const PacketHeader& header) noexcept {
  return (header.raw >> 24 << 16) | header.handler;
}
constexpr std::uint8_t raw_number(const PacketHeader& header) noexcept {
  return static_cast<std::uint8_t>(header.raw >> 16);
}
constexpr std::uint16_t raw_tag(const PacketHeader& header) noexcept {
  return static_cast<std::uint16_t>(header.raw);
}

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
