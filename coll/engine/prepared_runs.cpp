// Runs that are over, and wait with their records for the next such call.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <cstdint>
#include <utility>

namespace aqueduct::coll {

namespace {

// Chosen: with more calls in flight before it, a call with another root does without written steps.
constexpr std::uint32_t kMostInFlightSeen = 64;

}  // namespace

/// A run is over, and with it the only one of its call. Both records are made ready for the next such call.
void TeamEngine::put_aside(Run& run) noexcept {
  CallRecord& operation = *run.operation;
  KnownCall& call = *operation.call;
  take_off(operation);
  for (std::uint32_t i = 0; i < run.lane_count; ++i) {
    Run::Lane& lane = run.lanes[i];
    lane.step = nullptr;
    lane.next = 0;
    lane.told = lane.ended = false;
  }
  run.untold = run.lane_count;
  run.looks = run.ended = run.failures = 0;
  run.native_number = 0;
  run.output = Run::Output::unasked;
  run.begun = run.complete = false;
  run.sources.outcome = {};
  operation.opened = 1;
  operation.completed = operation.drained = 0;
  run.next = call.prepared;
  call.prepared = &run;
  call.noted_here = true;
}

/// Gives back a run that waits for the next such call, if there is one. Requires: something else names the call.
bool TeamEngine::drop_one_prepared(KnownCall& call) noexcept {
  Run* const run = call.prepared;
  if (run == nullptr) return false;
  call.prepared = std::exchange(run->next, nullptr);
  CallRecord& operation = *run->operation;
  if (operation.plan != nullptr) --operation.plan->held;
  --call.uses;
  layer_.operations().give_back(operation);
  layer_.runs().give_back(*run);
  return true;
}

/// Gives all of them back.
void TeamEngine::drop_prepared(KnownCall& call) noexcept {
  while (drop_one_prepared(call)) {
  }
}

/// The steps of the method change: gives back all runs that would use them. Plans have methods of their own.
void TeamEngine::drop_prepared(const Method& method) noexcept {
  if (latest_ == nullptr) return;
  for (KnownCall* const call : latest_->known) {
    if (call != nullptr && call->method == &method) drop_prepared(*call);
  }
}

/// Whether a call before this one may still use the steps of the method.
bool TeamEngine::is_used(const Method& method, const CallRecord& by) const noexcept {
  std::uint32_t looks = 0;
  for (const CallRecord* at = first_; at != nullptr && at != &by; at = at->next) {
    if (at->call->method == &method || ++looks == kMostInFlightSeen) return true;
  }
  return false;
}

}  // namespace aqueduct::coll
