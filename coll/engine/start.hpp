#pragma once

#include "coll/engine/collectives.hpp"

#include <utility>

namespace aqueduct::coll {

// The start of a call that is like an earlier one. All that is equal in each such call stands in a run that the earlier one
// has left behind (TeamEngine::put_aside). What is left are the addresses, the call's number and mark, and a portion of
// scratch. Inline to the caller of the library: its calls would be a quarter of its instructions.

/// The run of an earlier call, with a portion for the next one, which the caller begins by start_again. Null: nothing has
/// happened, and the call must be begun by begin_on.
inline Run* TeamEngine::prepared_for(KnownCall& call) noexcept {
  Run* const run = call.prepared;
  // Calls before this one that wait for scratch go first: see_short_way.
  if (run == nullptr || !scratch_->open_again(run->portion)) return nullptr;
  call.prepared = run->next;
  return run;
}

/// Begins a call that ends `op`, with the addresses that stand in the run. Its mark is found out at the first look, when
/// there is time. False: it has something to do at once, by go_on_at_once.
inline bool TeamEngine::start_again(core::Op& op, KnownCall& call, Run& run) noexcept {
  CallRecord& operation = *run.operation;
  operation.op = &op;
  operation.number = agreement_.calls_quietly(call.request.description);
  enqueue(operation);
  activate(run);
  if (run.first_wait == kNoCounter || scratch_->count(run.portion, run.first_wait) != 0) return false;
  layer_.has_work(*this);
  return true;
}

/// The operation of a call that begins at once. Null: nothing has happened, and `begin` must begin it.
inline core::Op* TeamEngine::begin_at_once(KnownCall& call, CallMemory memory) noexcept {
  if (!state_.ops.has_one_at_once()) return nullptr;
  Run* const run = prepared_for(call);
  if (run == nullptr) return nullptr;
  core::Op& op = state_.ops.acquire_at_once(kCollectiveKind, kNoRank);
  ++layer_.counts().operations;
  ++*run->counted;
  run->in = memory.in;
  run->out = memory.out;
  if (!start_again(op, call, *run)) [[unlikely]]
    return go_on_at_once(op, *run);
  return &op;
}

/// The same of a start of a plan. Requires: the plan has no obstacles; `ops` are the endpoint's.
inline core::Op* TeamEngine::start_at_once(Plan& plan, core::OpPool& ops) noexcept {
  if (!ops.has_one_at_once()) return nullptr;
  KnownCall& call = *plan.call;
  Run* const run = prepared_for(call);
  if (run == nullptr) return nullptr;
  core::Op& op = ops.acquire_at_once(kCollectiveKind, kNoRank);
  ++layer_.counts().operations;
  ++*run->counted;
  plan.obstacles.set(Plan::kRuns);
  if (!start_again(op, call, *run)) [[unlikely]]
    return go_on_at_once(op, *run);
  return &op;
}

}  // namespace aqueduct::coll
