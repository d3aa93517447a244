#pragma once

#include <aqueduct/rank.hpp>
#include <aqueduct/signal.hpp>

#include <cstdint>

namespace aqueduct::conduits::ucx {

/// What travels as active messages of UCX's, by their ids. All ranks of a job have the same version of this.
enum MessageId : unsigned {
  kPacket = 1,   ///< PacketHead, and a packet of the layers above
  kPut = 2,      ///< as UCX's header a PutHead; as its data the bytes
  kPutDone = 3,  ///< PacketHead, and some PutDone: bytes are in place
  kShortPut = 4  ///< PutHead, and the bytes
};

/// Starts every message: UCX does not say whose it is.
struct PacketHead {
  Rank from;
  std::uint32_t job;  ///< of whose number this is the lower half: strangers' messages are not for us
};
static_assert(sizeof(PacketHead) == 8);

/// A put that goes by message: where the network has none of its own, and where the target is to be told.
struct PutHead {
  PacketHead head;
  std::uint32_t index;       ///< which operation of the initiator's this is: PutDone brings it back
  std::uint32_t generation;  ///< which of those that had that index
  std::uint64_t offset;
  std::uint64_t add;  ///< to the signal; 0: none
  SegmentId segment;
  SignalSlot slot;
};
static_assert(sizeof(PutHead) == 40);

struct PutDone {
  std::uint32_t index;
  std::uint32_t generation;
  std::uint64_t code;  ///< an ErrorCode
};
static_assert(sizeof(PutDone) == 16);

/// What a rank tells of a segment, in front of UCX's packed key.
struct KeyHead {
  std::uint64_t address;
  std::uint64_t segment;
};
static_assert(sizeof(KeyHead) == 16);

}  // namespace aqueduct::conduits::ucx
