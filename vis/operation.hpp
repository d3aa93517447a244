#pragma once

#include <aqueduct/signal.hpp>

#include "core/op.hpp"
#include "rma/wire.hpp"
#include "vis/plan.hpp"
#include "vis/wire.hpp"

namespace aqueduct::vis {

/// The payload of vis's operations. It outlives the Transfer, which ends when only answers are outstanding.
struct Operation {
  bool has_signal;  ///< `signal` follows the bytes
  Signal signal;
  PlanChoice choice;    ///< for the planner, which learns how long it took; key 0: it learns nothing
  std::uint64_t since;  ///< time of the beginning, in nanoseconds of the endpoint's clock
  SegmentId segment;
  std::uint64_t lowest;  ///< lowest offset in the segment
  std::uint64_t bytes;
  std::uint64_t begun;  ///< how many bytes have been sent or requested

  static Operation& of(core::Op& op) noexcept { return op.payload<Operation>(); }
  static const Operation& of(const core::Op& op) noexcept { return op.payload<Operation>(); }
};

/// Adds size and place of a transfer to a stall report.
void describe_pieces_of(const core::Op& op, std::string& text);

/// A put or an accumulate. The target answers its packets as it answers pieces of rma's puts.
inline constexpr core::OpKind kPutKind{"a put", rma::kPutAck, describe_pieces_of, true};
inline constexpr core::OpKind kGetKind{"a get", kPackedData, describe_pieces_of};

}  // namespace aqueduct::vis
