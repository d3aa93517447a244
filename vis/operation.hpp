#pragma once

#include <aqueduct/signal.hpp>

#include "core/op.hpp"
#include "rma/wire.hpp"
#include "vis/plan.hpp"
#include "vis/wire.hpp"

namespace aqueduct::vis {

/// The payload of the operations of vis. It outlives the Transfer, which is over when only answers are left.
struct Operation {
  bool has_signal;  ///< after the bytes, `signal` is to be sent
  Signal signal;
  Choice choice;        ///< what the planner is told of at the end; key 0: it is told nothing
  std::uint64_t since;  ///< when it began, in nanoseconds of the endpoint's clock
  SegmentId segment;
  std::uint64_t lowest;  ///< offset in the segment
  std::uint64_t bytes;
  std::uint64_t begun;  ///< bytes that have been sent or requested

  static Operation& of(core::Op& op) noexcept { return op.payload<Operation>(); }
  static const Operation& of(const core::Op& op) noexcept { return op.payload<Operation>(); }
};

/// For the report of a stall.
void describe_pieces_of(const core::Op& op, std::string& text);

/// A put or an accumulate; its packets are answered as pieces of rma's puts are.
inline constexpr core::OpKind kPutKind{"a put", rma::kPutAck, describe_pieces_of};
inline constexpr core::OpKind kGetKind{"a get", kPackedData, describe_pieces_of};

}  // namespace aqueduct::vis
