// The runs of operations: how a call becomes runs, when these start, and when they are over.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace aqueduct::coll {

namespace {

constexpr int kMostRounds = 8;

void set_lane(Run::Lane& lane, std::uint32_t length, const Step* kept) noexcept {
  lane.kept = kept;
  lane.step = nullptr;
  lane.next = 0;
  lane.length = length;
  lane.strided = nullptr;
  lane.told = lane.ended = false;
}

}  // namespace

/// The shape of one of an operation's runs.
Shape TeamEngine::shape_of(const CallRecord& operation, std::uint32_t index) const noexcept {
  const Method& method = operation.method();
  Shape shape = operation.call->run;
  if (method.runs == 1) return shape;
  const bool before = method.before && index == 0;
  const bool after = method.after && index + 1 == method.runs;
  if (before || after) {
    shape.bytes = shape.pitch = 0;
    shape.in = before ? Sync::all : Sync::none;
    shape.out = after ? Sync::all : Sync::none;
    return shape;
  }
  const std::uint64_t piece = index - (method.before ? 1 : 0);
  shape.bytes = std::min(method.piece, method.shape.bytes - piece * method.piece);
  if (method.wide) shape.pitch = shape.bytes;  // as they are staged
  return shape;
}

/// What a run takes of the team's scratch: what the schedule writes and peers write, then its temporary bytes, then, if
/// elements are converted, input and output as wide elements.
Needs TeamChoices::needs_of(const Request& request, const Algorithm& algorithm, const Shape& shape,
                            std::uint64_t& temp_at, std::uint64_t& stage_at) const noexcept {
  Needs needs = Schedule::needs(algorithm, shape);
  temp_at = whole_lines(needs.scratch);
  stage_at = whole_lines(temp_at + needs.temp);
  needs.scratch = stage_at;
  if (request.combiner.wide_element != 0) {
    // The same on all members: as if each had all buffers.
    const Rank blocks = shape.operation == Collective::reduce_scatter ? ranks_ : 1;
    needs.scratch += whole_lines(blocks * shape.bytes) + whole_lines(shape.bytes);
  }
  needs.temp = 0;
  return needs;
}

/// Opens a run that is no whole piece: the passes before and after, and the rest.
void TeamEngine::open_rest(Run& run, const Shape& shape) noexcept {
  const KnownCall& call = *run.operation->call;
  const Algorithm& algorithm = *call.method->algorithm;
  Senders::Ticket none;
  run.element = shape.element;
  run.bytes = shape.bytes;
  const Needs needs = needs_of(call.request, algorithm, shape, run.temp_at, run.stage_at);
  run.portion = scratch_->open(algorithm, shape, needs, none);
  compute_steps(run, algorithm, shape);
}

/// Writes down this member's steps, if there are few. Requires: no run uses those of another root.
void TeamEngine::keep_steps(Method& method, const Shape& shape) noexcept {
  method.seen_root = shape.root;
  drop_prepared(method);
  method.redirected = {};
  const Schedule schedule(*method.algorithm, shape, position_);
  method.root = kNoRank;
  method.lanes = schedule.lanes();
  method.steps.clear();
  std::uint32_t all = 0;
  for (std::uint32_t lane = 0; lane < method.lanes; ++lane) {
    method.first[lane] = all;
    method.lengths[lane] = schedule.length(lane);
    all += method.lengths[lane];
  }
  if (all > Method::kMostSteps) return;
  try {
    method.steps.reserve(all);
  } catch (const std::bad_alloc&) {
    return;  // they are computed each time
  }
  for (std::uint32_t lane = 0; lane < method.lanes; ++lane) {
    for (std::uint32_t i = 0; i < method.lengths[lane]; ++i) method.steps.push_back(schedule.step(lane, i));
  }
  method.root = shape.root;
  if (redirects_ != nullptr && !method.wide && !method.algorithm->reads)
    method.redirected = find_redirected(method.steps);
}

void TeamEngine::compute_steps(Run& run, const Algorithm& algorithm, const Shape& shape) noexcept {
  run.schedule.emplace(algorithm, shape, position_);
  run.lane_count = run.untold = run.schedule->lanes();
  for (std::uint32_t lane = 0; lane < run.lane_count; ++lane)
    set_lane(run.lanes[lane], run.schedule->length(lane), nullptr);
}

inline void TeamEngine::set_lanes(Run& run, const Method& method, const Shape& shape) noexcept {
  if (method.root != shape.root) return compute_steps(run, *method.algorithm, shape);
  run.lane_count = run.untold = method.lanes;
  for (std::uint32_t lane = 0; lane < method.lanes; ++lane)
    set_lane(run.lanes[lane], method.lengths[lane], method.steps.data() + method.first[lane]);
}

/// Opens a run of a whole piece: all that there is to know of it was found when the method was chosen.
inline void TeamEngine::open_whole(Run& run, const Shape& shape) noexcept {
  Method& method = *run.operation->call->method;
  run.element = shape.element;
  run.bytes = shape.bytes;
  run.temp_at = method.temp_at;
  run.stage_at = method.stage_at;
  run.portion = scratch_->open(*method.algorithm, shape, method.needs, method.ticket);
  if (method.seen_root != shape.root && !is_used(method, *run.operation)) keep_steps(method, shape);
  set_lanes(run, method, shape);
  run.serves_again = method.runs == 1 && !method.wide && method.root == shape.root;
  run.counted = &layer_.uses_of(method.index);
  run.first_wait = kNoCounter;
  // On a team with a board there is: the call is to be said.
  if (run.serves_again && board_ == nullptr && method.lanes == 1 && !method.steps.empty())
    run.first_wait = method.steps.front().wait_for;
}

/// Opens the next run of an operation. False: there is no memory now.
inline bool TeamEngine::open_next(CallRecord& operation) noexcept {
  Run* const run = layer_.runs().take();
  if (run == nullptr) {
    no_room_ = true;
    return false;
  }
  const KnownCall& call = *operation.call;
  const Method& method = *call.method;
  run->operation = &operation;
  run->index = operation.opened++;
  run->complete = false;
  run->looks = run->own = run->ended = run->failures = 0;
  run->native_number = 0;
  run->output = Run::Output::unasked;
  run->shift = 0;
  run->serves_again = false;
  run->on_board = method.on_board;
  if (method.on_board) {
    open_on_board(*run);
    return true;
  }
  if (method.runs == 1) [[likely]] {
    open_whole(*run, call.run);
  } else {
    const Shape shape = shape_of(operation, run->index);
    if (shape.bytes == method.piece)
      open_whole(*run, shape);
    else
      open_rest(*run, shape);
    if (shape.bytes != 0) run->shift = (run->index - (method.before ? 1 : 0)) * method.piece;
  }
  run->sources.kind = &core::kSource;
  run->sources.pool = &state_.ops;
  run->sources.parts = 1;
  run->sources.outcome = {};
  if (call.request.combiner.wide_element == 0) [[likely]] {
    run->begun = method.runs == 1;  // it waits for no other run, and converts nothing
    run->in = operation.memory.in != nullptr ? operation.memory.in + run->shift : nullptr;
    run->out = operation.memory.out != nullptr ? operation.memory.out + run->shift : nullptr;
  } else {
    const Rank blocks = call.run.operation == Collective::reduce_scatter ? ranks_ : 1;
    run->begun = false;
    run->in = base_ + run->portion.offset + run->stage_at;
    run->out = run->in + whole_lines(blocks * run->bytes);
  }
  held_ = run;
  return true;
}

/// Starts the run that was opened last. False: it may not start yet.
inline bool TeamEngine::start_held() noexcept {
  Run& run = *held_;
  if (cancelled(*run.operation) || !scratch_->may_start(run.portion)) return false;
  scratch_->start(run.portion);
  held_ = nullptr;
  activate(run);
  if (redirects_ != nullptr && run.begun && !run.on_board) redirect_arrivals(run);
  newest_ = &run;
  return true;
}

/// Opens what can be opened, and starts what can start, in the team's order.
void TeamEngine::pump() noexcept {
  open_and_start();
  see_short_way();
}

void TeamEngine::open_and_start() noexcept {
  if (held_ != nullptr && !start_held()) return;
  while (opening_ != nullptr && !cancelled(*opening_)) {
    CallRecord& operation = *opening_;
    if (operation.kind == CallRecord::Kind::call) [[likely]] {
      if (!open_next(operation)) return;
      if (operation.opened == operation.method().runs) opening_ = operation.next;
      if (held_ != nullptr && !start_held()) return;
      continue;
    }
    if (!open_blocks(operation)) return;
    if (held_ != nullptr && !start_held()) return;
  }
}

void TeamEngine::completed(Run& run) noexcept {
  run.complete = true;
  if (!run.on_board && run.operation->call->request.combiner.wide_element != 0) convert_out(run);
  CallRecord& operation = *run.operation;
  // The pass before the pieces is counted too, so that they see that it is over.
  if (++operation.completed == operation.method().runs) over(operation, {});
}

/// The caller's operation ends.
void TeamEngine::over(CallRecord& operation, Status outcome) noexcept {
  if (operation.plan != nullptr) operation.plan->obstacles.remove(Plan::kRuns);
  if (core::Op* const op = std::exchange(operation.op, nullptr))
    end(*op, operation.number, operation.call->request.description.out, outcome);
}

/// A run is over here: its scratch may be used again.
void TeamEngine::drained(Run& run) noexcept {
  if (!run.on_board) scratch_->drained(run.portion);
  CallRecord& operation = *run.operation;
  if (run.serves_again && operation.call->kept) [[likely]]
    return put_aside(run);
  run.schedule.reset();
  layer_.runs().give_back(run);
  if (++operation.drained == operation.method().runs) forget(operation);
}

/// Takes an operation off the list.
void TeamEngine::take_off(CallRecord& operation) noexcept {
  CallRecord** at = &first_;
  while (*at != &operation) at = &(*at)->next;
  *at = operation.next;
  if (operation.next == nullptr) end_ = at;
  if (opening_ == &operation) opening_ = operation.next;
  see_short_way();
}

/// Takes an operation off the list, and gives its record back.
void TeamEngine::forget(CallRecord& operation) noexcept {
  take_off(operation);
  if (operation.plan != nullptr) {
    --operation.plan->held;
    release(*operation.plan);  // which may give up the call
  }
  if (KnownCall* const call = std::exchange(operation.call, nullptr)) {
    give_up(*call);
  }
  layer_.operations().give_back(operation);
}

bool TeamEngine::advance() noexcept {
  no_room_ = false;
  // Also of a team that is broken from a later call on: the earlier calls go on, and one of them has failed now.
  if (!all_.outcome.ok() && broken_from_ != 0) [[unlikely]] {
    if (all_.outcome.code() == ErrorCode::peer_lost)
      static_cast<void>(layer_.learns_of_loss(all_.outcome.peer()));
    fail_and_tell(all_.outcome);
  }
  // A run that is drained may let the next one start. Bounded, since others want their progress too.
  bool again = true;
  for (int round = 0; again && round < kMostRounds; ++round) {
    again = false;
    pump();
    for (Run** at = &active_; *at != nullptr;) {
      Run& run = **at;
      if (!cancelled(*run.operation)) [[likely]]
        look(run);
      if (!run.is_drained() || cancelled(*run.operation)) {
        at = &run.next;
        continue;
      }
      *at = run.next;
      if (*at == nullptr) active_end_ = at;
      drained(run);
      again = held_ != nullptr || opening_ != nullptr;
    }
    if (!send_raises()) no_room_ = true;
    // The end of an epoch's barrier, of which send_raises learns, may let a run start.
    again =
        again || (held_ != nullptr && !cancelled(*held_->operation) && scratch_->may_start(held_->portion));
  }
  // Nothing else looks at the others if all that goes on here is waiting for scratch.
  if (active_ == nullptr && held_ != nullptr && !cancelled(*held_->operation) && waits_long(*held_))
    look_at_calls();
  if (!broken_.ok()) [[unlikely]] {
    reap();
    return first_ != nullptr;
  }
  return no_room_ || again;
}

}  // namespace aqueduct::coll
