#pragma once

#include <aqueduct/am.hpp>

#include "core/conduit.hpp"

#include <cstdint>

namespace aqueduct::am {

/// The kind of a packet. A request takes a credit of its sender. Every kind can return credits to its receiver;
/// `credits` does nothing else.
enum class PacketKind : std::uint8_t { request = 1, reply = 2, credits = 3 };

/// Starts every packet. Little-endian, as are all machines that are known to run this; `reserved` replaces padding.
struct PacketHeader {
  PacketKind kind;
  AmCategory category;
  HandlerId handler;
  std::uint16_t credits;     ///< number of credits that the receiver gets back
  std::uint16_t args_bytes;  ///< size of the argument struct, which follows (after LongTarget, if long)
  std::uint32_t payload_bytes;
  std::uint32_t reserved;
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
