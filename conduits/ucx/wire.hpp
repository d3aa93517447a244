#pragma once

#include <aqueduct/global_ptr.hpp>
#include <aqueduct/rank.hpp>
#include <aqueduct/signal_types.hpp>

#include "conduits/ucx/owner_process.hpp"

#include <cstdint>

namespace aqueduct::conduits::ucx {

/// The ids of UCX's active messages. All ranks of a job have the same version of this.
enum MessageId : unsigned {
  kPacket = 1,    ///< PacketHead, and a packet of the layers above
  kPut = 2,       ///< a PutHead as UCX's header, the bytes as its data
  kPutDone = 3,   ///< PacketHead, and some PutDone: the answers to puts
  kShortPut = 4,  ///< PutHead, and the bytes
  kLatePut = 5    ///< as kShortPut, of a put that nobody waits for: its answer may travel with later ones
};

/// Starts every message: UCX does not tell its sender.
struct PacketHead {
  Rank from;
  std::uint32_t job;  ///< the lower half of the job's number, to recognise messages of other jobs
};
static_assert(sizeof(PacketHead) == 8);

/// A put by message: where the network cannot put by itself, and puts with a signal.
struct PutHead {
  PacketHead head;
  std::uint32_t index;       ///< of the initiator's operation; PutDone returns it
  std::uint32_t generation;  ///< of that operation, likewise
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

/// Starts the key of a segment; UCX's packed key follows.
struct KeyHead {
  std::uint64_t address;
  std::uint64_t segment;
  OwnerProcess owner;
};
static_assert(sizeof(KeyHead) == 32);

}  // namespace aqueduct::conduits::ucx
