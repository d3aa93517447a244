// What a step of a lane does.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"
#include "core/mapping.hpp"
#include "core/signals.hpp"

#include <cstring>
#include <utility>

namespace aqueduct::coll {

namespace {

/// A step that goes on after its lane has passed it: its end raises a counter of this member, or a peer's.
struct StepNote {
  TeamEngine* engine;
  Run* run;
  Counter done;
  Rank peer;  ///< of a strided put: to whom `follow` goes, as a position in the team
  Signal follow;
};

constexpr core::OpKind kStepKind{"a step of a collective operation"};

void copy_runs(std::byte* to, std::uint64_t to_pitch, const std::byte* from, std::uint64_t from_pitch,
               std::uint64_t bytes, std::uint64_t runs) noexcept {
  if (bytes == 0) return;  // there may be no buffer
  if (to == from && (runs == 1 || to_pitch == from_pitch)) return;
  // As signed distances: runs may go backwards.
  const auto step_to = static_cast<std::ptrdiff_t>(to_pitch);
  const auto step_from = static_cast<std::ptrdiff_t>(from_pitch);
  for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(runs); ++i)
    std::memmove(to + i * step_to, from + i * step_from, bytes);
}

}  // namespace

std::byte* TeamEngine::here(const Run& run, const Place& place) const noexcept {
  switch (place.space) {
    case Space::in: return run.in + place.offset;
    case Space::out: return run.out + place.offset;
    case Space::scratch: return base_ + run.portion.offset + place.offset;
    case Space::temp: return base_ + run.portion.offset + run.temp_at + place.offset;
    default: break;
  }
  return nullptr;
}

/// Where the bytes of a step are on this member. Writes an address down if the step announces one.
const std::byte* TeamEngine::source(Run& run, const Step& step) noexcept {
  if (step.from.space == Space::where) return write_down(run, step);
  if (step.from.space != Space::landed) [[likely]]
    return here(run, step.from);
  return here(run, is_reached(run) ? step.with : Place{Space::scratch, step.from.offset, step.from.pitch});
}

/// Where the bytes of a put go.
GlobalPtr<std::byte> TeamEngine::target(const Run& run, const Step& step) const noexcept {
  return step.to.space == Space::told ? announced(run, step) : there(run, step.peer, step.to);
}

GlobalPtr<std::byte> TeamEngine::there(const Run& run, Rank peer, const Place& place) const noexcept {
  const Rank rank = team_.members[peer];
  const Request& request = run.operation->call->request;
  if (place.space == Space::scratch)
    return {rank, places_[peer].offset + run.portion.offset + place.offset, places_[peer].segment};
  const GlobalPtr<std::byte> buffer = (place.space == Space::in ? request.in : request.out).of(peer, rank);
  return {rank, buffer.offset() + run.shift + place.offset, buffer.segment()};
}

GlobalPtr<std::byte> TeamEngine::scratch_of(Rank peer) const noexcept {
  return {team_.members[peer], places_[peer].offset, places_[peer].segment};
}

Signal TeamEngine::signal_for(const Run& run, const Step& step) const noexcept {
  const std::uint64_t slot = places_[step.peer].first_counter + run.portion.first_counter + step.raise;
#ifdef AQUEDUCT_CHECKED
  const bool marked = true;
#else
  // A network that raises counters by itself may have few bits for the amount.
  const bool marked =
      state_.conduit(team_.members[step.peer]).properties().max_signal_add >= run.operation->unit;
#endif
  return {static_cast<SignalSlot>(slot), marked ? step.add * run.operation->unit : step.add};
}

void TeamEngine::raise_own(const Run& run, Counter counter) noexcept {
  const std::uint64_t slot = places_[position_].first_counter + run.portion.first_counter + counter;
  core::my_counter(state_, static_cast<SignalSlot>(slot))
      .fetch_add(run.operation->unit, std::memory_order_release);
  raised_own_ = true;
}

TeamEngine::Did TeamEngine::execute(Run& run, Run::Lane& lane) noexcept {
  const Step& step = *lane.step;
  switch (step.kind) {
    case Step::Kind::nothing: break;
    case Step::Kind::tell:
      if (!lane.told) --run.untold;
      lane.told = true;
      break;
    case Step::Kind::copy: copy(run, step); break;
    case Step::Kind::reduce: reduce(run, step); break;
    case Step::Kind::signal: return signal(run, step);
    case Step::Kind::put: return put(run, lane);
    case Step::Kind::get: return get(run, lane);
    case Step::Kind::native: return start_native(run, step);
  }
  if (step.done != kNoCounter) raise_own(run, step.done);
  return Did::step;
}

void TeamEngine::copy(Run& run, const Step& step) noexcept {
  if (step.from.space == Space::landed && is_reached(run)) return;  // it is there already
  if (run.redirects != nullptr && run.redirects->open != 0 && take_redirected(run, step)) return;
  copy_runs(here(run, step.to), step.to.pitch, source(run, step), step.from.pitch, step.bytes, step.runs);
}

void TeamEngine::reduce(Run& run, const Step& step) noexcept {
  const Combiner& combiner = run.operation->call->request.combiner;
  const std::uint64_t count = step.bytes / run.element;
  std::byte* const to = here(run, step.to);
  const std::byte* const left = here(run, step.from);
  const std::byte* const right = here(run, step.with);
  for (std::uint64_t i = 0; i < step.runs; ++i) {
    combiner.combine(to + i * step.to.pitch, left + i * step.from.pitch, right + i * step.with.pitch, count,
                     combiner.context);
  }
}

/// What the answer of a transfer means for the lane. A first failure may be that of importing a key, after which the
/// reference layer takes over: so the step is tried once more.
TeamEngine::Did TeamEngine::outcome(Run& run, Status status) noexcept {
  if (status) [[likely]] {
    ++state_.moves;
    return Did::step;
  }
  if (status.code() == ErrorCode::refused) return Did::no_room;
  // All that the loss ends, ends when it is known.
  if (status.code() == ErrorCode::peer_lost && layer_.learns_of_loss(status.peer())) return Did::no_room;
  if (status.code() != ErrorCode::peer_lost && run.failures++ == 0) return Did::no_room;
  fail_and_tell(status);
  return Did::failed;
}

/// Whether the memory of a member may be mapped here: if not, nobody need look for it.
bool TeamEngine::may_be_mapped(Rank peer) const noexcept {
  return maps_ && state_.conduit(peer).cross_map() != nullptr;
}

TeamEngine::Did TeamEngine::signal(Run& run, const Step& step) noexcept {
  if (!scratch_->may_write(run.portion, step.peer)) return Did::waits;
  const Rank rank = team_.members[step.peer];
  const Signal what = signal_for(run, step);
  if (!may_be_mapped(rank) || !transfers_.raise_mapped(rank, what)) {
    const Status status = transfers_.signal_beside(scratch_of(step.peer), what, all_).status;
    if (const Did did = outcome(run, status); did != Did::step) return did;
  } else {
    ++state_.moves;
  }
  ++layer_.counts().messages;
  if (step.done != kNoCounter) raise_own(run, step.done);
  return Did::step;
}

/// An operation that ends with a step: see step_over. Null: there is no room.
core::Op* TeamEngine::step_op(Run& run, const Step& step) noexcept {
  core::Op* const op = state_.ops.acquire(kStepKind, kNoRank, false);
  if (op == nullptr) return nullptr;
  op->payload<StepNote>() = {this, &run, step.done, step.peer, {}};
  op->ended = step_over;
  op->layer = &layer_;
  op->group = &all_;
  ++all_.parts;
  ++run.own;
  return op;
}

bool TeamEngine::step_over(core::Layer&, core::Op& op) noexcept {
  const StepNote note = op.payload<StepNote>();
  --note.run->own;
  if (op.outcome && note.done != kNoCounter) note.engine->raise_own(*note.run, note.done);
  return true;
}

/// That members have made different calls is no failure of the network: they are told, and learn which.
bool TeamEngine::native_over(core::Layer& layer, core::Op& op) noexcept {
  const StepNote note = op.payload<StepNote>();
  if (note.engine->cancelled(*note.run->operation)) {
    // It ends with any status, which is no news: its caller gets the reason why it was given up.
    --note.run->own;
    op.outcome = {};
    return true;
  }
  if (op.outcome.code() != ErrorCode::mismatch) return step_over(layer, op);
  --note.run->own;
  op.outcome = {};
  // Without its Team, this member has given up all operations, and tells nobody.
  if (!note.engine->team_gone_) note.engine->saw_other(note.run->operation->number);
  return true;
}

/// Takes back an operation of step_op that nothing has joined.
void TeamEngine::take_back(Run& run, core::Op& op) noexcept {
  op.ended = nullptr;
  op.group = nullptr;
  --all_.parts;
  --run.own;
  state_.ops.take_back(op);
}

TeamEngine::Did TeamEngine::put(Run& run, Run::Lane& lane) noexcept {
  const Step& step = *lane.step;
  if (!scratch_->may_write(run.portion, step.peer)) return Did::waits;
  const GlobalPtr<std::byte> to = target(run, step);
  const Signal what = signal_for(run, step);
  const std::uint64_t extent = step.runs == 1 ? step.bytes : (step.runs - 1) * step.to.pitch + step.bytes;
  // A neighbour's memory: no operation is needed. What is written before a signal that finds no room is written again.
  std::byte* const mapped = may_be_mapped(to.rank()) ? core::find_mapped(state_, to, extent) : nullptr;
  if (mapped != nullptr || extent == 0) {
    copy_runs(mapped, step.to.pitch, source(run, step), step.from.pitch, step.bytes, step.runs);
    return signal(run, step);
  }
  if (step.runs > 1) return put_strided(run, lane);
  core::Op* const own = step.done != kNoCounter ? step_op(run, step) : nullptr;
  if (step.done != kNoCounter && own == nullptr) return Did::no_room;
  PutOptions options;
  options.immediate = true;
  // Nobody waits for the bytes to arrive: the source of a short put is free at once, that of a long one is asked for.
  const Status status =
      transfers_
          .put(to, source(run, step), step.bytes, rma::Transfers::Completion::group, options, &what, nullptr,
               {rma::WordPromise::any, &all_, own != nullptr ? own : &run.sources, true})
          .status;
  if (const Did did = outcome(run, status); did != Did::step) {
    if (own != nullptr) take_back(run, *own);
    return did;
  }
  ++layer_.counts().messages;
  if (own != nullptr) state_.ops.part_ended(*own, {});
  return Did::step;
}

/// Begins a transfer for each run of a step that goes on after the lane has passed it. `first`: sets up the operation of
/// all of them; `transfer`: begins that of run `i`.
template <class First, class Transfer>
TeamEngine::Did TeamEngine::run_by_run(Run& run, Run::Lane& lane, const First& first,
                                       const Transfer& transfer) noexcept {
  if (lane.strided == nullptr) {
    lane.strided = step_op(run, *lane.step);
    if (lane.strided == nullptr) return Did::no_room;
    first(*lane.strided);
    lane.pieces = 0;
  }
  while (lane.pieces < lane.step->runs) {
    if (const Did did = outcome(run, transfer(*lane.strided, lane.pieces)); did != Did::step) {
      // Those that have begun nothing keep no record: others may need it to go on.
      if (lane.pieces == 0) take_back(run, *std::exchange(lane.strided, nullptr));
      return did;
    }
    ++lane.pieces;
    ++layer_.counts().messages;
  }
  state_.ops.part_ended(*std::exchange(lane.strided, nullptr), {});
  return Did::step;
}

// Over a network the runs are puts of their own, which may overtake each other. So the signal follows when all of them
// have arrived.
TeamEngine::Did TeamEngine::put_strided(Run& run, Run::Lane& lane) noexcept {
  const Step& step = *lane.step;
  const auto first = [&](core::Op& whole) {
    whole.ended = strided_over;
    whole.peer = team_.members[step.peer];
    whole.payload<StepNote>().follow = signal_for(run, step);
  };
  const auto transfer = [&](core::Op& whole, std::uint64_t i) {
    const GlobalPtr<std::byte> to = target(run, step);
    PutOptions options;
    options.immediate = true;
    return transfers_
        .put({to.rank(), to.offset() + i * step.to.pitch, to.segment()},
             source(run, step) + i * step.from.pitch, step.bytes, rma::Transfers::Completion::group, options,
             nullptr, nullptr, {rma::WordPromise::any, &whole})
        .status;
  };
  return run_by_run(run, lane, first, transfer);
}

bool TeamEngine::strided_over(core::Layer& layer, core::Op& op) noexcept {
  const StepNote note = op.payload<StepNote>();
  if (!step_over(layer, op) || !op.outcome) return true;
  TeamEngine& engine = *note.engine;
  // The Team may be gone, and its list of members with it.
  const MemberPlace& place = engine.places_[note.peer];
  const GlobalPtr<std::byte> beside(op.peer, place.offset, place.segment);
  if (engine.transfers_.signal_beside(beside, note.follow, engine.all_).status) return true;
  return engine.transfers_.follow_with_signal(op,
                                              note.follow);  // which waits for room, and reports a failure
}

TeamEngine::Did TeamEngine::get(Run& run, Run::Lane& lane) noexcept {
  const Step& step = *lane.step;
  const auto transfer = [&](core::Op& whole, std::uint64_t i) {
    const GlobalPtr<std::byte> from = there(run, step.peer, step.from);
    return transfers_
        .get(here(run, step.to) + i * step.to.pitch,
             {from.rank(), from.offset() + i * step.from.pitch, from.segment()}, step.bytes,
             rma::Transfers::Completion::group, /*immediate=*/true, nullptr, {rma::WordPromise::any, &whole})
        .status;
  };
  return run_by_run(
      run, lane, [](core::Op&) {}, transfer);
}

bool TeamEngine::send_raises() noexcept {
  while (scratch_busy()) {
    const std::optional<Raise> raise = scratch_->due();
    if (!raise) return true;
    const Rank rank = team_.members[raise->peer];
    const Signal what{static_cast<SignalSlot>(places_[raise->peer].first_counter + raise->counter),
                      raise->add};
    if (!may_be_mapped(rank) || !transfers_.raise_mapped(rank, what)) {
      // No step waits for it: only its completion tells that it has arrived, on which the end of the team relies.
      const Status status =
          transfers_.signal_beside(scratch_of(raise->peer), what, all_, /*received=*/false).status;
      if (status.code() == ErrorCode::peer_lost && layer_.learns_of_loss(status.peer())) return false;
      if (!status && status.code() != ErrorCode::refused) fail_and_tell(status);
      if (!status) return false;
    }
    ++layer_.counts().control;
    scratch_->sent(*raise);
  }
  return true;
}

}  // namespace aqueduct::coll
