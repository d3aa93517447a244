#pragma once

#include "coll/engine/collectives.hpp"

#include <utility>

namespace aqueduct::coll {

// The start of a call that is like an earlier one. All that is equal in each such call stands in a run that the earlier one
// has left behind (TeamEngine::put_aside). What is left are the addresses, the call's number and mark, and a portion of
// scratch. Inline to the caller of the library: its calls would be a quarter of its instructions.

/// Begins a call that ends `op`, perhaps at once. False: nothing has happened, and the call must be begun by begin_on.
inline bool TeamEngine::start_again(core::Op& op, KnownCall& call, CallMemory memory, Plan* plan) noexcept {
  Run* const run = call.prepared;
  // Calls before this one that wait for scratch go first.
  if (run == nullptr || !quiet_ || opening_ != nullptr || held_ != nullptr) return false;
  Method& method = *call.method;
  if (run->version != method.version || !scratch_->open_again(run->portion)) return false;
  call.prepared = run->next;
  ++call.uses;
  ++method.calls;
  CallRecord& operation = *run->operation;
  operation.op = &op;
  operation.plan = plan;
  operation.memory = memory;
  operation.number = agreement_.calls_quietly(call.request.description);
  operation.unit = unit_of(operation.number, call);
  say_call(static_cast<std::uint32_t>(operation.unit >> 16));
  if (plan != nullptr) plan->running = 1;
  enqueue(operation);
  run->in = memory.in;
  run->out = memory.out;
  activate(*run);
  if (run->first_wait != kNoCounter && scratch_->count(run->portion, run->first_wait) == 0) [[likely]] {
    layer_.has_work(*this);
    return true;
  }
  look_first(*run);
  layer_.look_busy(*this);
  return true;
}

inline Event TeamEngine::begin_or_start_again(KnownCall& call, CallMemory memory, bool blocking,
                                              Plan* plan) noexcept {
  core::Op* const op = state_.ops.acquire(kCollectiveKind, kNoRank, true);
  const std::size_t algorithm = call.method->index;
  if (op == nullptr || !start_again(*op, call, memory, plan)) [[unlikely]]
    return begin_with(op, call, memory, blocking, plan);
  layer_.count(algorithm);
  return Event(op);
}

inline Event TeamEngine::begin(KnownCall& call, CallMemory memory, bool blocking) noexcept {
  // A call that is carried out without a schedule branches off here.
  if (blocking && call.method->on_board && first_ == nullptr && broken_.ok())
    return call_on_board(call, memory);
  return begin_or_start_again(call, memory, blocking, nullptr);
}

inline Event TeamEngine::start(Plan& plan) noexcept {
  // Of a broken team, begin_or_start_again says so.
  if (plan.running != 0 || !plan.direct) [[unlikely]]
    return start_slowly(plan);
  const Request& request = plan.call->request;
  return begin_or_start_again(*plan.call, {request.in.mine, request.out.mine}, /*blocking=*/false, &plan);
}

inline Event Collectives::start(Plan& plan) noexcept {
  return plan.engine != nullptr ? plan.engine->start(plan) : Event(Status(ErrorCode::closed));
}

}  // namespace aqueduct::coll
