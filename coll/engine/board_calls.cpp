// Calls that are carried out on the team's board.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"
#include "coll/tune/board_choice.hpp"
#include "core/wait.hpp"
#include "topology/host_topology.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <vector>

namespace aqueduct::coll {

namespace {

/// Chosen: some 2 us of looks before a blocking call becomes one that goes on in progress. Others get their progress then.
constexpr std::uint32_t kMostLooks = 400;
/// Chosen: what others on other processors may just be about to write.
constexpr std::uint32_t kMostLooksOfCrowded = 2;

// When the system copies between processes: measured, see decision 105.
/// Bytes of a block that are worth the fixed cost; of a reduction, those that are copied at once.
constexpr std::uint64_t kLeastCopied = 16384;
/// Chosen: more members would wait for the locks of the process that all of them read.
constexpr Rank kMostThatCopy = 4;
/// Two members with such slots do without: what one copies in, the other copies out at the same time. Measured on Zen 5, 64 KiB
/// and 1 MiB in us, by the system and through slots of 256 KiB: broadcast 7.4 and 5.4, 73 and 37; scatter 7.3 and 5.7, 74 and 65;
/// all-gather 7.3 and 5.2, 95 and 75; all-to-all 7.3 and 5.6, 91 and 95.
constexpr std::uint64_t kLongSlots = 131072;

/// Whether another member may read this one's input by such a copy.
bool is_copied(const BoardPlan& plan, Rank me) noexcept {
  // Of a reduction everybody combines a part. The input of an all-reduce moves to its output, and the output of a gather is not
  // written to in this way. Among two, what is copied by the system and then combined takes longer than what goes through the
  // board: measured on Zen 5 with new inputs in each call, far cores, reduce of 64 KiB 8.0 us and 4.6, 1 MiB 112 and 45.
  if (reduces(plan.operation) && plan.ranks == 2) return false;
  if (plan.operation == Operation::reduce) return true;
  return gives(plan, me) && plan.operation != Operation::all_reduce && plan.operation != Operation::gather;
}

/// Members read each other's outputs.
bool passes_outputs_on(const BoardPlan& plan) noexcept {
  return plan.method == BoardMethod::two_stage || goes_down_a_tree(plan.method);
}

}  // namespace

void TeamEngine::have_board(const BoardRoom& room, std::span<const TeamOffer> all) {
  std::vector<std::uint64_t> offsets;
  std::vector<Rank> ranks;
  offsets.reserve(all.size());
  ranks.reserve(all.size());
  for (Rank i = 0; i < all.size(); ++i) {
    offsets.push_back((all[i].offset + kBoardLine - 1) / kBoardLine * kBoardLine);
    ranks.push_back(team_.members[i]);
  }
  // A member that waits on the board for room may be as many calls ahead as there are lines, and one more. Off the board it may be
  // further ahead: then more calls are kept.
  constexpr std::size_t kLeastKept = 128;
  said_ = std::make_unique<SaidCalls>(std::max<std::size_t>(kLeastKept, 4 * room.slots));
  board_ = std::make_unique<Board>(MappedBoards(state_, offsets, ranks, position_, room.bytes()), room,
                                   ranks_, position_);
  traits_.board = room;
}

/// Of a call whose algorithm runs on a board: what it does there. False: there is no memory.
bool TeamEngine::plan_for_board(KnownCall& call) const noexcept try {
  const Combiner& combiner = call.request.combiner;
  const bool wide = combiner.wide_element != 0;
  const BoardRun run = run_on_board(*call.method->algorithm, call.run, wide ? call.request.shape.element : 0);
  call.combiner = {combiner.combine, combiner.context, wide ? combiner.widen : nullptr,
                   wide ? combiner.narrow : nullptr};
  const BoardMethod method = run.algorithm->board;
  const TileSizes sizes =
      has_tiles(method) ? tile_sizes(state_.layer<topology::HostTopology>()->caches(), ranks_) : TileSizes{};
  make_plan(call.plan, *run.algorithm, run.shape, position_, traits_.board,
            run.by_domains ? placement() : nullptr, sizes);
  if (!is_large(method)) return true;
  // The description of a barrier names no operator: its votes are merged by a function.
  const CallDescription& described = call.request.description;
  call.combiner.fold =
      described.op == ReduceOp::user || described.operation == Collective::barrier
          ? kernels::Fold::of(UserOperator{combiner.combine, combiner.context, run.shape.element, false})
          : kernels::Fold::of(described.type, described.op);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

/// Whether members may read each other's memory by copies of the system. Ranks that share processors find in their caches what the
/// others have put on the board.
bool TeamEngine::may_copy(const BoardPlan& plan) const noexcept {
  if (plan.bytes < kLeastCopied || ranks_ > kMostThatCopy || traits_.crowded) return false;
  if (ranks_ == 2 && board_->room().payload() >= kLongSlots) return false;
  // What is combined is copied into two buffers as long as a slot.
  return !reduces(plan.operation) || board_->room().payload() / (ranks_ / 2) >= kLeastCopied;
}

void TeamEngine::set_board_op(BoardOp& op, const KnownCall& call, CallMemory memory) const noexcept {
  op.plan = &call.plan;
  if (is_large(call.plan.method) && call.plan.method != BoardMethod::stream) {
    MappedBoards& boards = board_->access();
    // Up a tree a member passes on what its parent does not map.
    const bool copies = may_copy(call.plan) && !goes_up_a_tree(call.plan.method, call.plan.operation);
    if (copies) boards.prepare_copies();
    op.notes.in = boards.note(memory.in, bytes_in(call.plan), copies && is_copied(call.plan, position_));
    op.notes.out = boards.note(memory.out, bytes_out(call.plan), copies && passes_outputs_on(call.plan));
  }
  op.combiner = &call.combiner;
  op.in = memory.in;
  op.out = memory.out;
  op.mark = fingerprint(calls(), call.digest);
  op.call = static_cast<std::uint32_t>(calls());
}

/// A blocking call with none before it: begins at once, without a record of it. If it does not end soon, it gets one and
/// goes on as others do. Requires: the call is on the board, and nothing of the team is in flight.
Event TeamEngine::call_on_board(KnownCall& call, CallMemory memory) noexcept {
  if (const Status status = note(call.request.description); !status) return Event(status);
  layer_.count(call.method->index);
  return work_on_board(call, memory) ? Event() : follow_board_call(call, memory);
}

bool TeamEngine::call_on_board_at_once(KnownCall& call, CallMemory memory) noexcept {
  agreement_.calls_quietly(call.request.description);
  call.noted_here = true;
  layer_.count(call.method->index);
  return work_on_board(call, memory);
}

/// Barriers count in no algorithm's row.
bool TeamEngine::call_barrier_at_once(std::uint64_t& vote) noexcept {
  KnownCall& call = barrier_->call;
  agreement_.calls_quietly(call.request.description);
  call.noted_here = true;
  ++layer_.counts().operations;
  auto* const votes = reinterpret_cast<std::byte*>(&vote);
  return work_on_board(call, {votes, votes});
}

/// Whether a call that has its number has ended after a short time.
inline bool TeamEngine::work_on_board(KnownCall& call, CallMemory memory) noexcept {
  BoardOp& op = layer_.board_op();
  set_board_op(op, call, memory);
  say_call(op.mark);
  board_->begin(op);
  // Where ranks share processors take_turns looks on.
  const std::uint32_t most = traits_.crowded ? kMostLooksOfCrowded : kMostLooks;
  for (std::uint32_t looks = std::min(state_.pacing.spins, most); looks != 0; --looks) {
    if (board_->step(op)) [[likely]]
      return true;
  }
  return false;
}

Event TeamEngine::follow_board_call(KnownCall& call, CallMemory memory) noexcept {
  core::Op* op = state_.ops.acquire(kCollectiveKind, kNoRank, true);
  if (op == nullptr) op = state_.ops.acquire(kCollectiveKind, kNoRank, false);
  if (op != nullptr && follow_on_board(*op, call, memory)) return Event(op);
  if (op != nullptr) state_.ops.take_back(*op);
  ++call.uses;  // a continuation that runs meanwhile may take its place among the team's latest calls
  Event outcome = wait_on_board(layer_.board_op());
  give_up(call);
  return outcome;
}

bool TeamEngine::follow_barrier(core::Op& op, std::uint64_t& vote, Status& outcome) noexcept {
  KnownCall& call = barrier_->call;
  auto* const votes = reinterpret_cast<std::byte*>(&vote);
  if (follow_on_board(op, call, {votes, votes})) return true;
  ++call.uses;
  outcome = wait_on_board(layer_.board_op()).status();
  give_up(call);
  return false;
}

/// Makes records of a blocking call that has begun on the board: it goes on in progress then, and its end ends `op`. False: there
/// is no memory for them.
bool TeamEngine::follow_on_board(core::Op& op, KnownCall& call, CallMemory memory) noexcept {
  const BoardOp& begun = layer_.board_op();
  CallRecord* const record = layer_.operations().take();
  Run* const run = layer_.runs().take();
  if (record == nullptr || run == nullptr) {
    if (record != nullptr) layer_.operations().give_back(*record);
    if (run != nullptr) layer_.runs().give_back(*run);
    return false;
  }
  CallRecord& operation = *record;
  operation.kind = CallRecord::Kind::call;
  operation.op = &op;
  operation.plan = nullptr;
  operation.call = &call;
  operation.memory = memory;
  ++call.uses;
  operation.number = calls();
  operation.unit = std::uint64_t{1} | std::uint64_t{begun.mark} << 16;
  operation.opened = 1;
  operation.completed = operation.drained = 0;
  enqueue(operation);
  opening_ = nullptr;
  run->operation = record;
  run->index = 0;
  run->on_board = true;
  prepare_board_run(*run);
  run->board = begun;
  activate(*run);
  layer_.look_busy(*this);
  return true;
}

/// There is no memory to go on later, and the others count on this member's part: waits here, whatever the call's limit.
Event TeamEngine::wait_on_board(BoardOp op) noexcept {
  const auto ended = [&] {
    return !broken_.ok() || board_->access().failed() || (board_->may_step(op) && step_on_board(op));
  };
  const Status status =
      core::wait_until(state_, ended, kNoRank, [] { return std::string("a collective operation"); });
  if (status && broken_.ok() && board_->access().failed()) {
    // As fail_and_tell has it for a call with a record: the others wait for this member.
    const Status why = board_->access().failure();
    if (!team_gone_ && why.code() != ErrorCode::peer_lost)
      layer_.tell(*this, calls(), refused_call({}, why.code()));
    fail(why, 0);
  }
  if (status && broken_.ok()) return {};
  board_->leave(op);
  return Event(status ? broken_ : status);
}

void TeamEngine::prepare_board_run(Run& run) noexcept {
  run.complete = run.serves_again = false;
  run.begun = true;
  run.looks = run.own = run.ended = run.failures = run.lane_count = run.untold = 0;
  run.native_number = 0;
  run.shift = 0;
  run.sources.kind = &core::kSource;
  run.sources.pool = &state_.ops;
  run.sources.parts = 1;
  run.sources.outcome = {};
}

/// Gives a call its numbers on the board. It needs no scratch, so nothing holds it.
void TeamEngine::open_on_board(Run& run) noexcept {
  const CallRecord& operation = *run.operation;
  prepare_board_run(run);
  run.bytes = operation.call->run.bytes;
  set_board_op(run.board, *operation.call, operation.memory);
  run.board.mark = static_cast<std::uint32_t>(operation.unit >> 16);
  run.board.call = static_cast<std::uint32_t>(operation.number);
  board_->begin(run.board);
  activate(run);
  newest_ = &run;
}

/// A step of an operation whose turn it is. A sleep that is being prepared must not begin if the operation has gone on, or has
/// only now told those who would end the sleep that it waits for room.
bool TeamEngine::step_on_board(BoardOp& op) noexcept {
  const std::uint64_t ended = board_->ended();
  const bool was_short = op.short_of_room;
  const bool over = board_->step(op);
  if (over || board_->ended() != ended || op.short_of_room != was_short) ++state_.moves;
  return over;
}

void TeamEngine::look_at_board(Run& run) noexcept {
  if (run.complete || !board_->may_step(run.board)) return;
  if (step_on_board(run.board)) return completed(run);
  if (board_->access().failed()) [[unlikely]]
    return fail_and_tell(board_->access().failure());
  // The call in which the odd member waits may be an earlier one.
  if (board_->disagrees()) [[unlikely]]
    return saw_other(first_that_differs().value_or(run.operation->number));
  if (waits_long(run)) look_at_calls();
}

/// Keeps the marks of this member's calls as far back as the member is that is furthest behind.
void TeamEngine::keep_calls_for_others() noexcept {
  std::uint64_t furthest = 0;
  for (Rank i = 0; i < ranks_; ++i) {
    const std::uint64_t behind = (calls() - (board_->said_by(i) >> 32)) & 0xffff'ffff;
    if (behind <= 0x7fff'ffff) furthest = std::max(furthest, behind);  // else it is ahead
  }
  said_->keep_from(static_cast<std::uint32_t>(calls() - furthest));
}

/// The mark of one of this member's calls; nothing if it is forgotten, and then all others have read their part of it.
std::optional<std::uint32_t> TeamEngine::mark_of(std::uint64_t number) const noexcept {
  if (const auto said = said_->mark_of(static_cast<std::uint32_t>(number))) return said;
  for (const CallRecord* call = first_; call != nullptr; call = call->next) {
    if (call->number == number) return static_cast<std::uint32_t>(call->unit >> 16);
  }
  return board_->mark_of(static_cast<std::uint32_t>(number));
}

/// What the others have called last: a member that waits on the board hears nothing of one that waits for a message, or the
/// other way round. The member that is ahead knows what it called when it was where the other is.
void TeamEngine::look_at_calls() noexcept {
  if (board_ == nullptr) return;
  if (const auto number = first_that_differs()) saw_other(*number);
}

/// The first of this member's calls in place of which another one has called last something else.
std::optional<std::uint64_t> TeamEngine::first_that_differs() const noexcept {
  std::optional<std::uint64_t> first;
  for (Rank i = 0; i < ranks_; ++i) {
    if (i == position_) continue;
    const std::uint64_t said = board_->said_by(i);
    const std::uint64_t behind = (calls() - (said >> 32)) & 0xffff'ffff;
    if (said == 0 || behind > 0x7fff'ffff) continue;
    const std::uint64_t number = calls() - behind;
    const auto mine = mark_of(number);
    if (!mine || *mine == static_cast<std::uint32_t>(said)) continue;
    first = std::min(number, first.value_or(number));
  }
  return first;
}

void TeamEngine::describe_board(std::string& text, const Run& run) const {
  if (!board_->may_step(run.board)) {
    text += ", waits for its turn on the board";
    return;
  }
  text += fmt::format(", movement {} of {} on the board", run.board.movement + 1, run.board.plan->movements);
  if (const Rank on = board_->waits_for(); on != kNoRank)
    text += fmt::format(" waits for rank {}", team_.members[on]);
}

}  // namespace aqueduct::coll
