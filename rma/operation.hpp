#pragma once

#include <aqueduct/rma.hpp>
#include <aqueduct/signal.hpp>

#include "core/op.hpp"
#include "rma/wire.hpp"

namespace aqueduct::rma {

/// What a put with a signal does to a 64-bit word of its target.
struct WordSignal {
  SegmentId segment;
  SignalOp op;
  std::uint64_t offset;
  std::uint64_t value;
};

/// The payload of rma's operations: which bytes move, from where and to where. `unset()` sets the fields that are
/// always read; the other fields have a meaning only for some kinds.
struct Operation {
  std::byte* local;  ///< my side
  SegmentId segment;
  /// What follows the bytes, in their packet or in the conduit's own put: nothing, `signal`, or `word`.
  enum class Follows : std::uint8_t { nothing, signal, word } follows;
  bool after_fence;  ///< a fence stands between it and the operation that waits before it
  bool unwaited;     ///< nobody waits for its completion
  bool notify;  ///< behind a fence: wakes the target if the bytes are stored from here (PutOptions::notify)
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t begun;  ///< how many bytes have been sent or requested
  union {
    Signal signal;
    WordSignal word;
    aqueduct::detail::AtomicCall atomic;
  };

  /// The payload of an operation that is about to begin: nothing moves yet.
  static Operation& unset(core::Op& op) noexcept {
    Operation& operation = of(op);
    operation.local = nullptr;
    operation.follows = Follows::nothing;
    operation.after_fence = operation.notify = operation.unwaited = false;
    operation.bytes = 0;
    operation.begun = 0;
    return operation;
  }
  static Operation& of(core::Op& op) noexcept { return op.payload<Operation>(); }
  static const Operation& of(const core::Op& op) noexcept { return op.payload<Operation>(); }
  bool all_begun() const noexcept { return begun == bytes; }
};

/// Adds size and place of a transfer to a stall report.
void describe_bytes(const core::Op& op, std::string& text);
/// Adds the place of a signal's word to a stall report.
void describe_word_signal(const core::Op& op, std::string& text);

inline constexpr core::OpKind kPutKind{"a put", kPutAck, describe_bytes, true};
inline constexpr core::OpKind kGetKind{"a get", kGetData, describe_bytes};
inline constexpr core::OpKind kAtomicKind{"an atomic", kAtomicResult, nullptr, true};
inline constexpr core::OpKind kSignalKind{"a signal", kPutAck, nullptr, true};
/// The signal to a word that follows the bytes of a put: an atomic, by the network or by a packet.
inline constexpr core::OpKind kWordKind{"a signal to a word", kAtomicResult, describe_word_signal, true};

}  // namespace aqueduct::rma
