#pragma once

#include "am/messages.hpp"

#include <cstdint>

namespace aqueduct::vis {

/// The handlers of packed transfers. The answer to a packed put is that of rma/ to a reference put (rma::kPutAck).
enum PackedHandler : HandlerId {
  kPackedPut = am::kVisPackedPut,
  kPackedGet = am::kVisPackedGet,
  kPackedData = am::kVisPackedData,
};

/// How a packet describes the pieces of the receiver's segment. Numbers are varints (vis/varint.hpp); signed ones are
/// zigzag-encoded. Offsets count from PackedRequest::base.
///
/// strided  bytes of an element, number of dimensions, count and stride of each, bytes of the shape to skip
/// indexed  bytes of each piece, bytes of the first piece to skip, then for each piece its distance from the end of the
///          previous one
/// vector   for each piece its distance from the end of the previous one, and its bytes
enum class DescriptionKind : std::uint8_t {
  strided,
  indexed,
  vector,
};

/// One packet of a packed put or accumulate (the description, padded to 8 bytes, then the data), or the request for one
/// packet of a packed get (the description). Packets are independent: each can be handled without any other.
struct PackedRequest {
  core::Token token;
  std::uint64_t base;
  SegmentId segment;
  std::uint32_t data_bytes;   ///< bytes of data in the packet, or requested
  std::uint32_t description;  ///< bytes of the description, without the padding
  std::uint32_t chunk;        ///< get: the requester's chunk, which the answer returns
  DescriptionKind form;
  std::uint8_t type;  ///< put: 0; accumulate: 1 + the AtomicType
  std::uint16_t reserved0;
  std::uint32_t slot;  ///< put of a single packet with a signal: the counter to raise after the data
  std::uint64_t add;   ///< the amount to add to it; 0: no signal
};

/// The answer to a request of a packed get; the data follows.
struct PackedData {
  core::Token token;
  std::uint32_t chunk;
  std::uint32_t code;  ///< an ErrorCode
};

static_assert(sizeof(PackedRequest) == 48 && sizeof(PackedData) == 16);

}  // namespace aqueduct::vis
