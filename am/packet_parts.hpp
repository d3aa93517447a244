#pragma once

#include <aqueduct/copy_bytes.hpp>

#include "am/wire.hpp"
#include "core/endpoint_state.hpp"

#include <cstring>

namespace aqueduct::am {

/// What a handler gets from a packet.
struct PacketParts {
  const std::byte* args;
  core::MutableBytes payload;
};

/// Puts the payload of a long message into its place. Null, or the reason why the message is dropped.
[[gnu::noinline]] inline const char* place_long_payload(core::EndpointState& state,
                                                        PacketParts& parts) noexcept {
  LongTarget target;
  std::memcpy(&target, parts.args, sizeof target);
  parts.args += sizeof target;
  const auto part = state.segments.check({state.rank, target.offset, target.segment}, target.bytes);
  if (!part || (!parts.payload.empty() && parts.payload.size() != target.bytes)) [[unlikely]] {
    return "its target is outside the segment, or the segment has ended";
  }
  std::byte* place = state.segments[target.segment].mine.data() + target.offset;
  aqueduct::detail::copy_bytes(place, parts.payload.data(), parts.payload.size());
  parts.payload = {place, static_cast<std::size_t>(target.bytes)};
  return nullptr;
}

/// The bytes before the payload.
inline std::size_t bytes_of_head(const PacketHeader& header) noexcept {
  return sizeof header + (is_long(header.category) ? sizeof(LongTarget) : 0) + padded(header.args_bytes);
}

/// A packet whose payload lies directly behind its head.
struct InOnePiece {
  core::Bytes packet;

  core::Bytes start() const noexcept { return packet; }
  bool adds_up(std::size_t head, std::size_t payload) const noexcept {
    return packet.size() == head + payload;
  }
  core::MutableBytes payload(std::size_t head, std::size_t bytes) const noexcept {
    return {const_cast<std::byte*>(packet.data()) + head, bytes};
  }
};

/// A packet whose payload lies apart from its head.
struct InTwoPieces {
  core::Bytes head;
  core::MutableBytes behind;

  core::Bytes start() const noexcept { return head; }
  bool adds_up(std::size_t head_bytes, std::size_t payload) const noexcept {
    return head.size() == head_bytes && behind.size() == payload;
  }
  core::MutableBytes payload(std::size_t, std::size_t) const noexcept { return behind; }
};

/// Finds the arguments of a packet, and puts the payload of a long message into its place. Checks every length and the
/// place first. Returns null, or the reason why the message is dropped. A template: most packets are in
/// one piece, and need not be divided to be checked.
template <class Packet>
[[gnu::always_inline]] inline const char* find_parts(core::EndpointState& state, const PacketHeader& header,
                                                     const Packet& packet, PacketParts& parts) noexcept {
  parts.args = packet.start().data() + sizeof header;
  const std::size_t head = bytes_of_head(header);
  if (!packet.adds_up(head, header.payload_bytes)) [[unlikely]]
    return "its lengths do not add up";
  parts.payload = packet.payload(head, header.payload_bytes);
  return is_long(header.category) ? place_long_payload(state, parts) : nullptr;
}

}  // namespace aqueduct::am
