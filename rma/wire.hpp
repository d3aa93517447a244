#pragma once

#include "am/messages.hpp"

#include <cstdint>

namespace aqueduct::rma {

/// The messages of the reference layer. A token is the initiator's: the answer carries it back.
enum ReferenceHandler : HandlerId {
  kPut = am::kRmaPut,
  kPutAck = am::kRmaPutAck,
  kGet = am::kRmaGet,
  kGetData = am::kRmaGetData,
  kAtomic = am::kRmaAtomic,
  kAtomicResult = am::kRmaAtomicResult,
  kSignal = am::kRmaSignal,
  kPutWord = am::kRmaPutWord,
};

/// One piece of a put, in one packet. If it is the only piece, it also carries the signal.
struct PutPiece {
  core::Token token;
  std::uint64_t offset;
  std::uint64_t add;  ///< what the signal adds; 0: there is no signal
  SegmentId segment;
  SignalSlot slot;
};

/// A put in one packet, with a signal to a word. A put of more packets has plain pieces; an AtomicRequest follows them.
struct PutWordPiece {
  core::Token token;
  std::uint64_t offset;
  SegmentId segment;
  SegmentId word_segment;
  std::uint64_t word_offset;
  std::uint64_t value;
  SignalOp op;
  std::uint8_t reserved[7];
};

struct PutAck {
  core::Token token;
  std::uint64_t code;  ///< an ErrorCode
};

struct GetPiece {
  core::Token token;
  std::uint64_t offset;
  std::uint64_t at;  ///< position in the initiator's buffer
  SegmentId segment;
  std::uint32_t bytes;
};

struct GetData {
  core::Token token;
  std::uint64_t at;
  std::uint64_t code;
};

struct AtomicRequest {
  core::Token token;
  std::uint64_t offset;
  std::uint64_t operand;
  std::uint64_t expected;
  SegmentId segment;
  AtomicOp op;
  AtomicType type;
  std::uint16_t reserved;
};

struct AtomicResult {
  core::Token token;
  std::uint64_t old;
  std::uint64_t code;
};

struct SignalRequest {
  core::Token token;
  std::uint64_t add;
  SignalSlot slot;
  std::uint32_t reserved;
};

static_assert(sizeof(PutPiece) == 32 && sizeof(PutWordPiece) == 48 && sizeof(GetPiece) == 32 &&
              sizeof(AtomicRequest) == 40);

}  // namespace aqueduct::rma
