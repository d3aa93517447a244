// Members in a pass, in a stepped replay. There a member has one lane that only posts signals, so it needs no events but
// arrivals, as in ReplayAhead: one that completes what the lane waits for runs the lane ahead of the window. Most messages of
// a large team are signals of passes.

#include "coll/model/few_members.hpp"
#include "coll/model/replay_stepped.hpp"

#include <algorithm>
#include <limits>

namespace aqueduct::coll {

// The port of an owner sends what others get, among its own messages in the order of time. So a member runs ahead behind the
// operation only if its port has answered all gets, which are counted for that. Before the operation it does so too if it
// hopes that nobody gets from it so early.
bool ReplayStepped::may_run_ahead() const noexcept {
  return state_.calls.size() == 1 && state_.options.watcher == nullptr && !state_.machine.shares_cores() &&
         state_.machine.gets == Gets::messages;
}

/// Counts how many gets each member is to answer.
void ReplayStepped::count_gets() noexcept {
  const auto gets = [](const Brief& step) { return step.kind == Step::Kind::get; };
  // A get by another member is noticed when it comes.
  counts_gets_ = runs_ahead_ &&
                 (!hopes_ || few_have(state_.schedule(0), std::numeric_limits<std::uint32_t>::max(), gets));
  if (!counts_gets_) return;
  const TeamSchedule& schedule = state_.schedule(0);
  for (Rank rank = 0; rank < state_.ranks; ++rank) {
    for (std::uint32_t number = 0; number < schedule.lanes(rank); ++number) {
      const TeamSchedule::Lengths& lengths = state_.lane(rank, number).lengths;
      const std::uint32_t first = number == 0 ? lengths.before : 0;
      const std::uint32_t end = number == 0 ? lengths.all - lengths.after : lengths.all;
      for (std::uint32_t i = first; i < end; ++i) {
        const Brief step = schedule.brief(rank, number, i, lengths);
        if (step.kind == Step::Kind::get)
          looking_[step.peer].unanswered += state_.in_pieces(step) ? step.runs : 1;
      }
    }
  }
}

/// A member gets something.
void ReplayStepped::note_get() noexcept {
  if (runs_ahead_ && !counts_gets_) fits_ = false;
}

/// The port of an owner answers a get.
void ReplayStepped::note_answer(Looking& owner, Picoseconds handed_over) noexcept {
  if (!counts_gets_) return;
  --owner.unanswered;
  // At one time the answer goes first.
  if (handed_over <= owner.ahead_handed) fits_ = false;
}

/// Runs the pass before the operation. Returns false if the operation has none, or if the member must not run ahead.
bool ReplayStepped::begin_with_pass(Rank rank) {
  Looking& looking = looking_[rank];
  Lane& lane = state_.lane(rank, 0);
  if (!runs_ahead_ || lane.lengths.before == 0 || (looking.unanswered != 0 && !hopes_)) return false;
  looking.ahead_until = lane.lengths.before;
  looking.looking = true;
  go_ahead(rank, looking, state_.called(rank));
  return true;
}

/// The pass behind all else, or the rest of it, if there is no more in the way: the member looks no more.
bool ReplayStepped::end_with_pass(Rank rank, Looking& looking, const Lane& lane, Picoseconds now) {
  if (!runs_ahead_ || looking.unanswered != 0 || lane.next + lane.lengths.after < lane.lengths.all ||
      lane.lengths.after == 0 || &lane != &state_.lane(rank, 0) || !looking.due.empty() ||
      calls_of(rank)[0].own != 0)
    return false;
  for (std::uint32_t i = 1; i < state_.lanes_of; ++i) {
    if (!state_.lane(rank, i).ended) return false;
  }
  looking.ahead_until = lane.lengths.all;
  go_ahead(rank, looking, now);
  return true;
}

/// What happens in a window at a member that looks no more. False: it still looks.
bool ReplayStepped::do_ahead(std::span<ReplayEvent> events) {
  const Rank rank = events.front().rank;
  const Looking& looking = looking_[rank];
  if (looking.ahead_until == 0 || looking.ahead_until != state_.lane(rank, 0).lengths.all) return false;
  sort_events(events);
  for (const ReplayEvent& event : events) happen(event);
  return true;
}

/// Runs the lane until it waits for what has not arrived yet, or the pass is over.
void ReplayStepped::go_ahead(Rank rank, Looking& looking, Picoseconds now) {
  Lane& lane = state_.lane(rank, 0);
  looking.ahead_now = std::max(looking.ahead_now, now);
  while (lane.next != looking.ahead_until) {
    state_.load(rank, 0, lane);
    const Brief& step = lane.step;
    if (step.wait_for != kNoCounter) {
      const ReplayState::CounterState& waited = state_.counter(rank, 0, step.wait_for);
      if (waited.value < step.wait_until) return;
      looking.ahead_now = std::max(looking.ahead_now, waited.ready);
    }
    if (step.kind == Step::Kind::signal) {
      const Picoseconds overhead = state_.ports.between(rank, step.peer, 0).overhead;
      looking.ahead_now = state_.work(rank, state_.out.members[rank].busy, looking.ahead_now, overhead,
                                      Watcher::What::post, step.peer, 0);
      looking.ahead_handed = looking.ahead_now;
      state_.ports.hand_over(rank, looking.ahead_now, 0,
                             {.rank = step.peer, .counter = step.raise, .add = step.add, .kind = Kind::put});
    }
    ReplayState::pass(lane);
  }
  looking.ahead_until = 0;
  if (lane.next == lane.lengths.all && lane.lengths.after != 0) {
    lane.ended = true;
    tell(lane, calls_of(rank)[0]);
    calls_of(rank)[0].ended = true;
    looking.unfinished = 0;
    state_.out.members[rank].drained = state_.out.members[rank].ended = looking.ahead_now;
  } else {
    // Its other lanes, and the rest of this one.
    looking.looking = false;
    push({.time = looking.ahead_now, .rank = rank, .kind = Kind::wake});
  }
}

}  // namespace aqueduct::coll
