// The looks of a stepped replay: conventions 7, 8 and 10 of loggp.hpp.

#include "coll/model/replay_stepped.hpp"

#include <utility>

namespace aqueduct::coll {

/// A post, a copy or a reduction is over, or a look begins.
void ReplayStepped::go_on(Rank rank, Picoseconds now) {
  Looking& looking = looking_[rank];
  if (std::exchange(looking.posting, false)) {
    if (std::exchange(looking.receiving, false)) {
      looking.lane = kBeginLook;
    } else if (looking.computing != 0) {
      calls_of(rank)[std::exchange(looking.computing, std::uint8_t{0})].begun = true;
      looking.lane = kBeginLook;
    } else if (!end_post(rank, looking, now)) {
      return;
    }
  }
  while (true) {
    if (looking.lane == kBeginLook && !begin_look(rank, looking, now)) return;
    if (!look(rank, looking, now)) return;
    if (std::exchange(looking.raised, false)) {
      looking.lane = 0;
      continue;
    }
    looking.lane = kBeginLook;
    if (!end_calls(rank, looking, now)) return;
    if (!looking.moved && looking.due.empty()) break;
  }
  rest(rank, looking, now);
}

/// The member waits.
void ReplayStepped::rest(Rank rank, Looking& looking, Picoseconds now) {
  looking.looking = false;
  if (!processors_.are_shared()) return;
  processors_.give_back(rank, now);
  push({.time = now, .rank = rank, .kind = Kind::give_out});
}

/// Whether a look that begins now is not in vain, so that the member asks for a processor that others could have.
bool ReplayStepped::would_do_something(Rank rank, const Looking& looking, Picoseconds now) noexcept {
  if (!looking.due.empty()) return true;
  for (std::uint32_t i = 0; i < state_.lanes_of; ++i) {
    const std::uint32_t number = state_.call_of(i);
    const OfCall& call = calls_of(rank)[number];
    if (!call.begun) continue;
    if (!call.ended && call.untold == 0 && call.own == 0) return true;
    const Lane& lane = state_.lane(rank, i);
    if (lane.ended || lane.blocked) continue;
    if (!lane.loaded || lane.step.wait_for == kNoCounter) return true;
    const ReplayState::CounterState& waited = state_.counter(rank, number, lane.step.wait_for);
    if (waited.value >= lane.step.wait_until && waited.ready <= now) return true;
  }
  return false;
}

/// Learns of completions.
bool ReplayStepped::begin_look(Rank rank, Looking& looking, Picoseconds now) {
  if (!receive(rank, looking, now)) return false;
  looking.moved = false;
  while (!looking.due.empty()) {
    const Due due = looking.due.take_first();
    --calls_of(rank)[due.call].own;
    if (due.done != kNoCounter) raise_own(rank, due.call, due.done, now);
    if (due.pieces >= 0 && !follow(rank, looking, due.pieces, due.call, now)) return false;
  }
  looking.lane = 0;
  return true;
}

/// What has come is work of a processor that ranks share.
bool ReplayStepped::receive(Rank rank, Looking& looking, Picoseconds now) {
  const Picoseconds length = std::exchange(looking.arrived, 0U) * state_.machine.receive;
  if (length == 0 || !processors_.are_shared()) return true;
  const Picoseconds end =
      state_.work(rank, state_.out.members[rank].busy, now, length, Watcher::What::receive, kNoRank, 0);
  looking.posting = looking.receiving = true;
  push({.time = end, .rank = rank, .kind = Kind::go_on});
  return false;
}

/// Executes steps.
bool ReplayStepped::look(Rank rank, Looking& looking, Picoseconds now) {
  for (; looking.lane < state_.lanes_of; ++looking.lane) {
    const std::uint32_t call = state_.call_of(looking.lane);
    OfCall& of_call = calls_of(rank)[call];
    if (!of_call.begun) continue;
    Lane& lane = state_.lane(rank, looking.lane);
    while (!lane.ended && !lane.blocked) {
      if (!state_.load(rank, looking.lane, lane)) {
        lane.ended = true;
        state_.out.members[rank].drained = now;
        tell(lane, of_call);
        break;
      }
      const Brief& step = lane.step;
      if (step.wait_for != kNoCounter) {
        const ReplayState::CounterState& waited = state_.counter(rank, call, step.wait_for);
        if (waited.value < step.wait_until) {
          lane.blocked = true;
          break;
        }
        if (waited.ready > now) {
          push({.time = waited.ready, .rank = rank, .kind = Kind::wake});
          break;
        }
      }
      if (end_with_pass(rank, looking, lane, now)) return false;
      looking.moved = true;
      looking.call = static_cast<std::uint8_t>(call);
      if (!execute(rank, looking, lane, now)) return false;
    }
  }
  return true;
}

void ReplayStepped::tell(Lane& lane, OfCall& call) noexcept {
  if (!std::exchange(lane.told, true)) --call.untold;
}

bool ReplayStepped::execute(Rank rank, Looking& looking, Lane& lane, Picoseconds now) {
  const Brief& step = lane.step;
  switch (step.kind) {
    case Step::Kind::put:
    case Step::Kind::get:
    case Step::Kind::signal:
      looking.piece = 0;
      return begin_post(rank, looking, step, now) && end_post(rank, looking, now);
    case Step::Kind::native: state_.fail("a step leaves the operation to the conduit"); return false;
    case Step::Kind::tell: tell(lane, calls_of(rank)[looking.call]); break;
    case Step::Kind::copy:
    case Step::Kind::reduce:
      if (!work_here(rank, looking, step, now)) return false;
      break;
    case Step::Kind::nothing: break;
  }
  over_at_once(rank, looking, lane, now);
  return true;
}

/// A copy or a reduction. True: it takes no time.
bool ReplayStepped::work_here(Rank rank, Looking& looking, const Brief& step, Picoseconds now) {
  const Picoseconds length = state_.local_time(step);
  if (length == 0) return true;
  const auto what = step.kind == Step::Kind::copy ? Watcher::What::copy : Watcher::What::reduce;
  const Picoseconds end =
      state_.work(rank, state_.out.members[rank].busy, now, length, what, kNoRank, step.bytes * step.runs);
  looking.posting = true;
  push({.time = end, .rank = rank, .kind = Kind::go_on});
  return false;
}

void ReplayStepped::over_at_once(Rank rank, Looking& looking, Lane& lane, Picoseconds now) {
  if (lane.step.done != kNoCounter) {
    raise_own(rank, looking.call, lane.step.done, now);
    looking.raised = true;
  }
  ReplayState::pass(lane);
}

/// Looks which calls have ended, and begins the next. False: the processor computes first.
bool ReplayStepped::end_calls(Rank rank, Looking& looking, Picoseconds now) {
  const std::span<OfCall> calls = calls_of(rank);
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    OfCall& call = calls[i];
    if (!call.begun || call.ended || call.untold != 0 || call.own != 0) continue;
    call.ended = true;
    if (--looking.unfinished == 0) state_.out.members[rank].ended = now;
    if (state_.options.in_flight || i + 1 == calls.size()) continue;
    if (state_.options.compute == 0) {
      calls[i + 1].begun = true;
      looking.moved = true;
      continue;
    }
    looking.computing = static_cast<std::uint8_t>(i + 1);
    looking.posting = true;
    const Picoseconds end = state_.work(rank, state_.out.members[rank].busy, now, state_.options.compute,
                                        Watcher::What::compute, kNoRank, 0);
    push({.time = end, .rank = rank, .kind = Kind::go_on});
    return false;
  }
  return true;
}

}  // namespace aqueduct::coll
