#include "coll/engine/team_engine.hpp"

#include "coll/engine/blocks_call.hpp"
#include "coll/engine/blocks_methods.hpp"
#include "coll/engine/call_text.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/start.hpp"

#include <cstring>
#include <utility>

namespace aqueduct::coll {

TeamEngine::TeamEngine(Collectives& all, TeamState& team) : TeamEngineState(all, team) {
  shares_memory_ = state_.near != nullptr && state_.near->cross_map() != nullptr;
  for (Rank i = 0; i < ranks_ && !maps_; ++i) maps_ = state_.conduit(team.members[i]).cross_map() != nullptr;
  redirects_ = redirects_of_team();
  all_.kind = &core::kGroup;
  all_.pool = &state_.ops;
  all_.parts = 1;
}

void TeamEngine::have_scratch(const ScratchSizes& sizes, std::byte* bytes,
                              std::span<std::uint64_t> words) noexcept {
  base_ = bytes;
  layout_.emplace(sizes, ranks_);
  words_ = words.first(layout_->counters());
}

Status TeamEngine::make_ready() noexcept try {
  have_counters(CounterWords::zeroed(words_));
  return {};
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

/// Makes what calls need. May throw std::bad_alloc.
void TeamEngine::have_counters(CounterWords counters) {
  if (latest_ == nullptr) latest_ = std::make_unique<LatestCalls>();
  known_ = latest_->known.data();
  scratch_ = std::make_unique<TeamScratch>(
      layout_->sizes(), ranks_, position_, std::move(counters),
      layout_->clears() ? layer_.senders().of_team(ranks_, traits_.groups, traits_.tree) : nullptr);
  see_short_way();
}

// What is still in flight refers to this object no more: its parts become those of the endpoint's unobserved operation.
TeamEngine::~TeamEngine() {
  // What the conduit has for the team is the parent's: in a forked child nothing may touch the network.
  if (state_.in_child()) static_cast<void>(native_.release());
  for (Run* run = active_; run != nullptr && !state_.in_child(); run = run->next) end_redirects(*run);
  forget_calls();
  for (const auto& one : barriers_) drop_prepared(one->call);
  leave_learning();
  if (all_.parts > 1) state_.ops.move_members(all_, state_.unobserved);
  for (Plan* plan = plans_; plan != nullptr;) {
    Plan* const next = plan->next;
    plan->engine = nullptr;
    plan->obstacles.add(Plan::kClosed);
    let_go(*std::exchange(plan->call, nullptr));
    if (plan->dropped) delete plan;
    plan = next;
  }
}

Event TeamEngine::begin(const Request& request, const CollCall& given, bool blocking) noexcept {
  if (!broken_.ok()) return Event(broken_);
  if (ranks_ == 1) return alone(request);
  const auto call = know(request);
  if (!call) {
    // The others are told, since this member may be without scratch alone.
    refuse(refused_call(request.description, call.status().code()), call.status());
    return Event(call.status());
  }
  // A team that learns looks at each call: members that keep different ones would count differently.
  if (learning_ == nullptr && may_be_known(given, request)) keep(**call, given);
  Event event = begin_or_start_again(**call, {request.in.mine, request.out.mine}, blocking, nullptr);
  give_up(**call);
  return event;
}

Event TeamEngine::begin(KnownCall& call, CallMemory memory, bool blocking) noexcept {
  // A call that is carried out without a schedule branches off here.
  if (blocking && call.method->on_board && first_ == nullptr && broken_.ok())
    return call_on_board(call, memory);
  return begin_or_start_again(call, memory, blocking, nullptr);
}

/// Of a call without obstacles: it may still be the first one, or find no record at once.
Event TeamEngine::begin_or_start_again(KnownCall& call, CallMemory memory, bool blocking,
                                       Plan* plan) noexcept {
  core::Op* const op = state_.ops.acquire(kCollectiveKind, kNoRank, true);
  Run* const run = op != nullptr ? prepared_for(call) : nullptr;
  if (run == nullptr) return begin_with(op, call, memory, blocking, plan);
  ++layer_.counts().operations;
  ++*run->counted;
  if (plan != nullptr) plan->obstacles.add(Plan::kRuns);
  begin_again(*op, call, *run, memory);
  return Event(op);
}

void TeamEngine::log_no_scratch(const Request& request) noexcept {
  if (std::exchange(scratch_missed_, true)) return;
  CallText text;
  add_call(text, request.description);
  state_.log.error(
      "{} on a team of {} ranks: the team has no memory for collective operations, because a member had too "
      "little left when the team was made: end teams that are not used any more (Team::end), or raise "
      "AQUEDUCT_COLL_SCRATCH and AQUEDUCT_COLL_COUNTERS on all ranks",
      text.view(), ranks_);
}

// A member alone copies. Its input is its output's first block, if it has any.
Event TeamEngine::alone(const Request& request) noexcept {
  const Shape& shape = request.shape;
  const bool nothing = shape.operation == Collective::barrier || shape.operation == Collective::exscan;
  if (!nothing && request.in.mine != request.out.mine && shape.bytes != 0)
    std::memmove(request.out.mine, request.in.mine, shape.bytes);
  return {};
}

/// Begins a call that ends `op`, perhaps at once. On failure `op` is as it was.
Status TeamEngine::begin_on(core::Op& op, KnownCall& call, CallMemory memory, Plan* plan) noexcept {
  // It will leave a prepared run behind: no more of them wait than calls were in flight at once.
  drop_one_prepared(call);
  CallRecord* const record = layer_.operations().take();
  if (record == nullptr) return ErrorCode::refused;
  if (const Status status = note(call.request.description); !status) {
    layer_.operations().give_back(*record);
    return status;
  }
  CallRecord& operation = *record;
  operation.kind = CallRecord::Kind::call;
  operation.op = &op;
  operation.plan = plan;
  operation.call = &call;
  operation.memory = memory;
  ++call.uses;
  operation.number = calls();
  operation.unit = unit_of(operation.number, call);
  operation.opened = operation.completed = operation.drained = 0;
  say_call_off_board(static_cast<std::uint32_t>(operation.unit >> 16));
  const bool in_pieces = call.method->runs != 1;
  if (plan != nullptr) {
    plan->obstacles.add(Plan::kRuns);
    ++plan->held;
  }
  enqueue(operation);
  if (opening_ == nullptr) opening_ = &operation;
  see_short_way();
  // Not the earlier ones: with many in flight, each call would look at all of them.
  newest_ = nullptr;
  pump();
  if (newest_ != nullptr) look(*newest_);
  // With none before it, all that its start has made possible goes on at once.
  if (first_ == &operation && (in_pieces || scratch_busy() || (newest_ != nullptr && newest_->is_drained())))
    static_cast<void>(advance());
  layer_.look_busy(*this);
  return {};
}

/// A run has started again, and its call is to be said, or has something to do. Returns `op`.
core::Op* TeamEngine::go_on_at_once(core::Op& op, Run& run) noexcept {
  CallRecord& operation = *run.operation;
  operation.unit = unit_of(operation.number, *operation.call);
  say_call_off_board(static_cast<std::uint32_t>(operation.unit >> 16));
  run.begun = true;
  if (redirects_ != nullptr) redirect_arrivals(run);
  look(run);
  if (first_ == &operation && (scratch_busy() || run.is_drained())) static_cast<void>(advance());
  layer_.look_busy(*this);
  return &op;
}

/// As begin_at_once, for callers with an operation.
void TeamEngine::begin_again(core::Op& op, KnownCall& call, Run& run, CallMemory memory) noexcept {
  run.in = memory.in;
  run.out = memory.out;
  if (!start_again(op, call, run)) static_cast<void>(go_on_at_once(op, run));
}

/// `op`: null if there was no room for one with an Event.
Event TeamEngine::begin_with(core::Op* op, KnownCall& call, CallMemory memory, bool blocking,
                             Plan* plan) noexcept {
  Status status = broken_;
  if (status) {
    // A blocking call gives its record back by itself, so it may be one of the library's.
    if (op == nullptr && blocking) op = state_.ops.acquire(kCollectiveKind, kNoRank, false);
    if (op == nullptr) return Event(Status(ErrorCode::refused));
    const std::size_t algorithm = call.method->index;
    status = begin_on(*op, call, memory, plan);
    if (status) {
      layer_.count(algorithm);
      return Event(op);
    }
  }
  if (op != nullptr) state_.ops.take_back(*op);
  return Event(status);
}

}  // namespace aqueduct::coll
