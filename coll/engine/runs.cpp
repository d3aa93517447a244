// The runs of operations: how a call becomes runs, when these start, and when they are over.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::coll {

namespace {

constexpr int kMostRounds = 8;
// Chosen: a few microseconds of looks, beside which one at all counters is little.
constexpr std::uint32_t kLooksAtAll = 256;

}  // namespace

/// The shape of one of an operation's runs. The pieces of an operation with Sync::all move freely between the passes; but
/// each must have its own bytes in place before the pass at the end.
Shape TeamEngine::shape_of(const CallRecord& operation, std::uint32_t index) const noexcept {
  Shape shape = operation.method.shape;
  shape.root = operation.request.shape.root;
  if (operation.runs == 1) return shape;
  const bool before = operation.before && index == 0;
  const bool after = operation.after && index + 1 == operation.runs;
  if (before || after) {
    shape.bytes = shape.pitch = 0;
    shape.in = before ? Sync::all : Sync::none;
    shape.out = after ? Sync::all : Sync::none;
    return shape;
  }
  const std::uint64_t piece = index - (operation.before ? 1 : 0);
  shape.bytes = std::min(operation.method.piece, shape.bytes - piece * operation.method.piece);
  if (shape.in == Sync::all) shape.in = Sync::none;
  if (shape.out == Sync::all) shape.out = Sync::mine;
  return shape;
}

/// What a run takes of the team's scratch: what the schedule writes and peers write, then its temporary bytes, then, if
/// elements are converted, input and output as wide elements.
Needs TeamEngine::needs_of(const Request& request, const Algorithm& algorithm, const Shape& shape,
                           Run* run) const noexcept {
  Needs needs = Schedule::needs(algorithm, shape);
  const std::uint64_t temp_at = whole_lines(needs.scratch);
  const std::uint64_t stage_at = whole_lines(temp_at + needs.temp);
  needs.scratch = stage_at;
  if (request.combiner.wide_element != 0) {
    // The same on all members: as if each had all buffers.
    const Rank blocks = shape.operation == Collective::reduce_scatter ? ranks_ : 1;
    needs.scratch += whole_lines(blocks * shape.bytes) + whole_lines(shape.bytes);
  }
  needs.temp = 0;
  if (run != nullptr) {
    run->temp_at = temp_at;
    run->stage_at = stage_at;
  }
  return needs;
}

/// Opens what can be opened, and starts what can start, in the team's order.
void TeamEngine::pump() noexcept {
  while (true) {
    if (held_ != nullptr) {
      if (cancelled(*held_->operation) || !scratch_->may_start(held_->portion)) return;
      scratch_->start(held_->portion);
      activate(*std::exchange(held_, nullptr));
      continue;
    }
    if (opening_ == nullptr || cancelled(*opening_)) return;
    CallRecord& operation = *opening_;
    if (operation.kind == CallRecord::Kind::call) {
      if (!open_next(operation)) return;
      if (operation.opened == operation.runs) opening_ = operation.next;
      continue;
    }
    opening_ = operation.next;
    Plan& plan = *operation.plan;
    if (operation.kind == CallRecord::Kind::bind) {
      plan.lease = scratch_->lease(plan.method.shape, plan.method.needs);
    } else if (plan.lease) {
      scratch_->end(*std::exchange(plan.lease, std::nullopt));
    }
    forget(operation);
  }
}

/// Opens the next run of an operation. False: there is no memory now.
bool TeamEngine::open_next(CallRecord& operation) noexcept {
  Run* const run = layer_.runs().take();
  if (run == nullptr) {
    no_room_ = true;
    return false;
  }
  const Shape shape = shape_of(operation, operation.opened);
  const Method& method = operation.method;
  const bool whole_piece = shape.bytes == method.piece || operation.runs == 1;
  const Algorithm* algorithm = method.algorithm;
  Shape run_shape = shape;
  // A rest may be too short for the algorithm of the pieces, which then leaves it to another.
  if (!whole_piece && Schedule::refusal(*algorithm, shape) != nullptr) {
    const Choice choice = layer_.chooser().choose(shape, traits_, scratch_->layout());
    algorithm = choice.algorithm;
    run_shape = choice.shape;
    run_shape.root = shape.root;
    run_shape.bytes = shape.bytes;
    run_shape.pitch = shape.pitch;
  }
  run->operation = &operation;
  run->index = operation.opened++;
  run->begun = run->complete = false;
  run->looks = 0;
  run->own = 0;
  run->ended = 0;
  const std::uint32_t piece = run->index - (operation.before && operation.runs > 1 ? 1 : 0);
  const bool moves = run_shape.bytes != 0;
  run->shift = moves && operation.runs > 1 ? piece * method.piece : 0;
  if (operation.request.combiner.wide_element != 0) run_shape.pitch = run_shape.bytes;  // as they are staged
  const Needs needs = needs_of(operation.request, *algorithm, run_shape, run);
  Senders::Ticket none;
  Plan* const plan = operation.plan;
  run->portion =
      plan != nullptr && plan->lease && operation.runs == 1
          ? scratch_->open_leased(*plan->lease, *algorithm, run_shape, operation.method.ticket)
          : scratch_->open(*algorithm, run_shape, needs, whole_piece ? operation.method.ticket : none);
  run->schedule.emplace(*algorithm, run_shape, position_);
  run->lane_count = run->schedule->lanes();
  run->untold = run->lane_count;
  for (std::uint32_t lane = 0; lane < run->lane_count; ++lane) {
    run->lanes[lane].next = 0;
    run->lanes[lane].length = run->schedule->length(lane);
    run->lanes[lane].strided = nullptr;
    run->lanes[lane].fetched = run->lanes[lane].told = run->lanes[lane].ended = false;
  }
  run->sources.kind = &core::kSource;
  run->sources.pool = &state_.ops;
  run->sources.parts = 1;
  run->sources.outcome = {};
  const Request& request = operation.request;
  if (request.combiner.wide_element == 0) {
    run->in = request.in.mine != nullptr ? request.in.mine + run->shift : nullptr;
    run->out = request.out.mine != nullptr ? request.out.mine + run->shift : nullptr;
  } else {
    const Rank blocks = run_shape.operation == Collective::reduce_scatter ? ranks_ : 1;
    run->in = base_ + run->portion.offset + run->stage_at;
    run->out = run->in + whole_lines(blocks * run_shape.bytes);
  }
  held_ = run;
  return true;
}

void TeamEngine::activate(Run& run) noexcept {
  run.next = nullptr;
  *active_end_ = &run;
  active_end_ = &run.next;
  newest_ = &run;
}

/// Whether the lanes may run: a piece waits for the pass before it, and the pass at the end for all pieces.
bool TeamEngine::may_begin(const Run& run) const noexcept {
  const CallRecord& operation = *run.operation;
  if (operation.runs == 1) return true;
  if (operation.after && run.index + 1 == operation.runs) return operation.completed + 1 == operation.runs;
  return !operation.before || run.index == 0 || operation.completed != 0;
}

void TeamEngine::look(Run& run) noexcept {
  if (!run.begun) {
    if (!may_begin(run)) return;
    run.begun = true;
    convert_in(run);
  }
  for (std::uint32_t i = 0; i < run.lane_count; ++i) {
    Run::Lane& lane = run.lanes[i];
    if (lane.ended) continue;
    const Did did = go_on(run, lane);
    if (did == Did::no_room) no_room_ = true;
    if (cancelled(*run.operation)) [[unlikely]]
      return;
  }
  if (++run.looks % kLooksAtAll == 0) [[unlikely]]
    look_for_others(run);
  if (!run.complete && run.untold == 0 && run.own == 0 && run.sources.parts == 1) completed(run);
}

void TeamEngine::completed(Run& run) noexcept {
  run.complete = true;
  convert_out(run);
  CallRecord& operation = *run.operation;
  // The pass before the pieces is counted too, so that they see that it is over.
  if (++operation.completed == operation.runs) over(operation, {});
}

/// The caller's operation ends.
void TeamEngine::over(CallRecord& operation, Status outcome) noexcept {
  if (operation.plan != nullptr && operation.kind == CallRecord::Kind::call) operation.plan->running = 0;
  if (core::Op* const op = std::exchange(operation.op, nullptr)) state_.ops.part_ended(*op, outcome);
}

/// A run is over here: its scratch may be used again.
void TeamEngine::drained(Run& run) noexcept {
  scratch_->drained(run.portion);
  CallRecord& operation = *run.operation;
  run.schedule.reset();
  layer_.runs().give_back(run);
  if (++operation.drained == operation.runs) forget(operation);
}

/// Takes an operation off the list.
void TeamEngine::forget(CallRecord& operation) noexcept {
  CallRecord** at = &first_;
  CallRecord* before = nullptr;
  while (*at != &operation) {
    before = *at;
    at = &before->next;
  }
  *at = operation.next;
  if (last_ == &operation) last_ = before;
  if (opening_ == &operation) opening_ = operation.next;
  if (operation.plan != nullptr) {
    --operation.plan->held;
    release(*operation.plan);
  }
  layer_.operations().give_back(operation);
}

bool TeamEngine::advance() noexcept {
  no_room_ = false;
  // A run that is drained may let the next one start. Bounded, since others want their progress too.
  bool again = true;
  for (int round = 0; again && round < kMostRounds; ++round) {
    again = false;
    pump();
    for (Run** at = &active_; *at != nullptr;) {
      Run& run = **at;
      if (!cancelled(*run.operation)) [[likely]]
        look(run);
      if (!is_drained(run) || cancelled(*run.operation)) {
        at = &run.next;
        continue;
      }
      *at = run.next;
      if (*at == nullptr) active_end_ = at;
      drained(run);
      again = held_ != nullptr || opening_ != nullptr;
    }
    if (!send_raises()) no_room_ = true;
  }
  if (!broken_.ok()) [[unlikely]] {
    reap();
    return first_ != nullptr;
  }
  return no_room_;
}

/// Ends the operations from number `from` on with `why`, as soon as nothing uses their buffers. Later calls get it at
/// once. Earlier operations go on: members that are behind may still need this one for them.
void TeamEngine::fail(Status why, std::uint64_t from) noexcept {
  if (broken_.ok()) broken_ = why;
  broken_from_ = std::min(broken_from_, from);
  if (from == 0 && scratch_) scratch_->close();
}

/// After a failure: ends the cancelled operations whose buffers nobody uses any more.
void TeamEngine::reap() noexcept {
  if (held_ != nullptr && cancelled(*held_->operation)) {
    held_->schedule.reset();
    layer_.runs().give_back(*std::exchange(held_, nullptr));
  }
  for (Run** at = &active_; *at != nullptr;) {
    Run& run = **at;
    const bool is_cancelled = cancelled(*run.operation);
    for (std::uint32_t i = 0; i < run.lane_count && is_cancelled; ++i) {
      if (core::Op* const strided = std::exchange(run.lanes[i].strided, nullptr))
        state_.ops.part_ended(*strided, broken_);
    }
    if (!is_cancelled || run.own != 0 || run.sources.parts != 1) {
      at = &run.next;
      continue;
    }
    *at = run.next;
    if (*at == nullptr) active_end_ = at;
    run.schedule.reset();
    layer_.runs().give_back(run);
  }
  for (CallRecord* operation = first_; operation != nullptr;) {
    CallRecord* const next = operation->next;
    bool in_use = !cancelled(*operation);
    for (const Run* run = active_; run != nullptr && !in_use; run = run->next)
      in_use = run->operation == operation;
    if (!in_use) {
      over(*operation, broken_);
      forget(*operation);
    }
    operation = next;
  }
}

}  // namespace aqueduct::coll
