// What happens at the ranks of a stepped replay, in the order of time.

#include "coll/model/replay_stepped.hpp"

#include "coll/model/rank_batches.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::coll {

bool ReplayStepped::run(Ahead ahead) {
  runs_ahead_ = may_run_ahead();
  hopes_ = ahead == Ahead::hopes;
  count_gets();
  for (Rank rank = 0; rank < state_.ranks; ++rank) begin_calls(rank);
  Ports& ports = state_.ports;
  // Ranks that share processors are done together: what one does may keep another one waiting.
  RankBatches batches(state_.ranks, state_.machine.shares_cores() ? &state_.machine : nullptr);
  while (fits_ && state_.goes_on()) {
    const std::uint64_t window = ports.first_window();
    if (window == Calendar<ReplayEvent>::kNone) break;
    if (ports.heads().first() == window) {
      window_ = window;
      LargeVector<ReplayEvent> events = ports.heads().take();
      batches.deal(
          events,
          [&](std::span<ReplayEvent> of_rank) {
            if (!do_ahead(of_rank)) do_together(of_rank);
          },
          [&](const ReplayEvent& event) {
            return state_.touched(event, &looking_[event.rank], calls_of(event.rank).data(),
                                  &state_.out.members[event.rank]);
          });
      ports.heads().recycle(std::move(events));
    }
    ports.route(window);
  }
  return fits_;
}

void ReplayStepped::begin_calls(Rank rank) {
  Looking& looking = looking_[rank];
  const auto count = static_cast<std::uint32_t>(state_.calls.size());
  for (std::uint32_t call = 0; call < count; ++call) {
    OfCall& of_call = calls_of(rank)[call];
    of_call.untold = state_.schedule(call).lanes(rank);
    of_call.begun = call == 0 || state_.options.in_flight;
  }
  looking.unfinished = static_cast<std::uint8_t>(count);
  if (!begin_with_pass(rank)) push({.time = state_.called(rank), .rank = rank, .kind = Kind::wake});
}

namespace {

/// Of a heap, whose top is the earliest.
struct Later {
  template <class Local>
  bool operator()(const Local& a, const Local& b) const noexcept {
    if (a.event.before(b.event)) return false;
    if (b.event.before(a.event)) return true;
    return a.number > b.number;
  }
};

}  // namespace

/// Does what happens at a rank within the window, and what follows from it there; or at the ranks of a host.
void ReplayStepped::do_together(std::span<ReplayEvent> events) {
  sort_events(events);
  numbers_ = 0;
  in_window_ = true;
  std::size_t next = 0;
  while (true) {
    // What was there first goes first.
    if (next < events.size() && (local_.empty() || !local_.front().event.before(events[next]))) {
      happen(events[next++]);
    } else if (!local_.empty()) {
      std::pop_heap(local_.begin(), local_.end(), Later{});
      const ReplayEvent event = local_.back().event;
      local_.pop_back();
      happen(event);
    } else {
      break;
    }
  }
  in_window_ = false;
}

/// Something that happens later at a rank that is being done.
void ReplayStepped::push(const ReplayEvent& event) {
  if (in_window_ && state_.ports.window_of(event.time) == window_) {
    local_.push_back({event, numbers_++});
    if (local_.size() > 1) std::push_heap(local_.begin(), local_.end(), Later{});
  } else {
    state_.ports.heads().push(event);
  }
}

void ReplayStepped::happen(const ReplayEvent& event) {
  const Rank rank = event.rank;
  // What follows from the event at this rank, or at the other end, with the rest as in the event.
  ReplayEvent next = event;
  switch (event.kind) {
    case Kind::part: state_.ports.take(event); return;
    case Kind::put: return arrive(event);
    case Kind::request:
      next.time = state_.ports.take(event);
      next.kind = Kind::hand_answer;
      return push(next);
    case Kind::hand_answer:
      next.rank = event.from;
      next.kind = Kind::answer;
      note_answer(looking_[rank], event.time);
      state_.ports.hand_over(rank, event.time, event.bytes, next);
      return;
    case Kind::answer:
      ++looking_[rank].arrived;
      next.time = state_.ports.take(event);
      next.kind = Kind::got;
      return push(next);
    case Kind::piece:
      ++looking_[rank].arrived;
      next.time = state_.ports.take(event) + state_.ports.between(event.from, rank, event.bytes).latency;
      next.rank = event.from;
      next.from = rank;
      next.kind = Kind::known;
      state_.ports.heads().push(next);
      return;
    case Kind::known: return piece_over(event);
    case Kind::got:
      if (event.add == kGetInPieces) return piece_over(event);
      [[fallthrough]];
    case Kind::over: looking_[rank].due.add({event.counter, event.call, -1}); return wake(rank, event.time);
    case Kind::wake:
      if (processors_.are_shared()) return wake_with_processor(rank, event.time);
      // Whatever else is of this time here comes before, so the look need not be an event of its own.
      if (wakes(looking_[rank])) go_on(rank, event.time);
      return;
    case Kind::go_on: return go_on(rank, event.time);
    case Kind::give_out:
      return processors_.give_out(
          rank, event.time, [&](Rank one) { push({.time = event.time, .rank = one, .kind = Kind::go_on}); },
          [&](Picoseconds when, Rank one) { push({.time = when, .rank = one, .kind = Kind::give_out}); });
  }
}

/// A piece of a put or get is over.
void ReplayStepped::piece_over(const ReplayEvent& event) {
  Looking& looking = looking_[event.rank];
  Looking::Pieces& pieces = looking.pieces[event.counter];
  if (--pieces.left != 0) return;
  looking.due.add({pieces.step.done, pieces.call, event.counter});
  wake(event.rank, event.time);
}

/// Adds to a counter; lanes that have all that they wait for are no longer blocked, and each(time) is called for them.
template <class Each>
void ReplayStepped::add(Rank rank, std::uint32_t call, Counter number, std::uint32_t amount, Picoseconds at,
                        const Each& each) {
  ReplayState::CounterState& counter = state_.counter(rank, call, number);
  counter.add(amount, at);
  for (std::uint32_t i = 0; i < state_.lanes_each; ++i) {
    Lane& lane = state_.lane(rank, call * state_.lanes_each + i);
    if (!lane.loaded || lane.step.wait_for != number || counter.value < lane.step.wait_until) continue;
    lane.blocked = false;
    each(counter.ready);
  }
}

/// The head of a put or signal: its counter is raised when it is in place, and lanes that wait for that go on.
void ReplayStepped::arrive(const ReplayEvent& put) {
  if (Looking& looking = looking_[put.rank]; looking.ahead_until != 0) {
    state_.counter(put.rank, put.call, put.counter).add(put.add, state_.ports.take(put));
    if (state_.lane(put.rank, 0).step.wait_for == put.counter) go_ahead(put.rank, looking, 0);
    return;
  }
  ++looking_[put.rank].arrived;
  add(put.rank, put.call, put.counter, put.add, state_.ports.take(put),
      [&](Picoseconds ready) { push({.time = ready, .rank = put.rank, .kind = Kind::wake}); });
}

/// The member raises a counter of its own, in a look that goes on.
void ReplayStepped::raise_own(Rank rank, std::uint32_t call, Counter number, Picoseconds now) {
  add(rank, call, number, 1, now, [](Picoseconds) {});
}

/// Whether a look is to begin: the processor was idle.
bool ReplayStepped::wakes(Looking& looking) noexcept {
  if (looking.looking || looking.posting) return false;
  looking.looking = true;
  looking.lane = kBeginLook;
  return true;
}

/// A look, if the processor is idle, when all that is known at that time has happened.
void ReplayStepped::wake(Rank rank, Picoseconds now) {
  if (processors_.are_shared()) return wake_with_processor(rank, now);
  if (wakes(looking_[rank])) push({.time = now, .rank = rank, .kind = Kind::go_on});
}

/// Likewise if ranks share processors: asks for one.
void ReplayStepped::wake_with_processor(Rank rank, Picoseconds now) {
  Looking& looking = looking_[rank];
  if (!would_do_something(rank, looking, now) || !wakes(looking)) return;
  processors_.ask(rank, now);
  push({.time = now, .rank = rank, .kind = Kind::give_out});
}

}  // namespace aqueduct::coll
