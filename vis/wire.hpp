#pragma once

#include "am/messages.hpp"

#include <cstdint>

namespace aqueduct::vis {

/// The messages of packed transfers. A put is answered as a piece of a put of rma/ is.
enum PackedHandler : HandlerId {
  kPackedPut = am::kVisPackedPut,
  kPackedGet = am::kVisPackedGet,
  kPackedData = am::kVisPackedData,
};

/// How a packet describes the pieces of the target's or owner's segment. Numbers are varints (vis/varint.hpp), offsets
/// are counted from PackedRequest::base, signed ones are zigzag.
enum class Form : std::uint8_t {
  strided,  ///< element bytes, dimensions, count and stride of each, bytes to step over
  indexed,  ///< bytes of each piece, bytes of the first to step over, then each one's distance from the end of the one before
  vector,   ///< each piece's distance from the end of the one before, and its bytes
};

/// One packet of a packed put or accumulate (description, padded to 8 bytes; then data), or the request of one packet
/// of a packed get (description). It stands by itself: no packet needs another one.
struct PackedRequest {
  core::Token token;
  std::uint64_t base;
  SegmentId segment;
  std::uint32_t data_bytes;   ///< in the packet, or asked for
  std::uint32_t description;  ///< bytes of it, without the padding
  std::uint32_t chunk;        ///< of a get, the requester's own; given back
  Form form;
  std::uint8_t type;  ///< of a put: 0; of an accumulate: 1 + the AtomicType
  std::uint16_t reserved0;
  std::uint32_t slot;  ///< of a put that is one packet: the counter to be raised behind it,
  std::uint64_t add;   ///< by so much; 0: none
};

/// The answer to the request of a packed get, with the data.
struct PackedData {
  core::Token token;
  std::uint32_t chunk;
  std::uint32_t code;  ///< an ErrorCode
};

static_assert(sizeof(PackedRequest) == 48 && sizeof(PackedData) == 16);

}  // namespace aqueduct::vis
