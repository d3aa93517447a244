#include "coll/model/replay_lanes.hpp"

#include "coll/model/replay_ahead.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::coll {

// Of the end of a put with bytes the member learns between looks only.
bool ReplayLanes::must_step(const Brief& step) noexcept {
  return ReplayAhead::must_step(step) ||
         (step.done != kNoCounter && step.all_bytes() != 0 && step.kind == Step::Kind::put);
}

ReplayLanes::ReplayLanes(ReplayState& state) : state_(state), members_(state.ranks) {
  for (Rank rank = 0; rank < state.ranks; ++rank)
    members_[rank].untold = static_cast<std::uint8_t>(state.schedule(0).lanes(rank));
}

bool ReplayLanes::run() {
  for (Rank rank = 0; rank < state_.ranks && fits_; ++rank) {
    begin_look(members_[rank], state_.called(rank));
    go_on(rank, 0);
  }
  replay_arrivals(state_, members_, fits_, [&](std::span<const ReplayEvent> events, Picoseconds sure) {
    for (const ReplayEvent& event : events) take(event);
    go_on(events.front().rank, sure);
  });
  for (Rank rank = 0; rank < state_.ranks; ++rank) {
    Member& member = members_[rank];
    if (!member.looking) idle(member, kNever);
    ReplayedMember& out = state_.out.members[rank];
    out.drained = member.drained;
    out.ended = member.ended;
    out.busy = member.busy;
  }
  return fits_;
}

void ReplayLanes::take(const ReplayEvent& event) {
  if (event.kind == ReplayEvent::Kind::go_on) return;
  const Picoseconds in_place = state_.ports.take(event);
  if (event.kind == ReplayEvent::Kind::put)
    state_.counter(event.rank, 0, event.counter).add(event.add, in_place);
}

/// Goes on with a look, and with those that follow it, until the member is idle or in doubt. `sure`: whatever arrives until then is
/// known.
void ReplayLanes::go_on(Rank rank, Picoseconds sure) {
  Member& member = members_[rank];
  if (member.alone) {
    if (!go_on_alone(rank, member)) return;
  } else if (!member.looking) {
    const Picoseconds next = next_look(rank);
    if (next == kNever) return;
    idle(member, next);
    begin_look(member, next);
  }
  while (look(rank, member, sure)) {
    member.asked = false;
    if (std::exchange(member.raised, false)) {
      member.lane = 0;
      continue;
    }
    if (member.untold == 0 && member.ended == kNever && member.sources <= member.began)
      member.ended = member.now;
    if (member.moved) {
      begin_look(member, member.now);
      continue;
    }
    const Picoseconds next = next_look(rank);
    if (next == kNever) {
      member.looking = false;
      return;
    }
    idle(member, next);
    begin_look(member, next);
  }
  if (fits_) doubt(rank, member);
}

/// The look is in doubt at the only lane for which something can arrive, as in all passes: that lane goes on at once. False: it
/// still waits.
bool ReplayLanes::go_on_alone(Rank rank, Member& member) {
  const Brief& step = state_.lane(rank, member.lane).step;
  const ReplayState::CounterState& waited = state_.counter(rank, 0, step.wait_for);
  if (waited.value < step.wait_until) return false;
  member.alone = false;
  if (waited.ready <= member.now) return true;
  // There was nothing more to do at that time. The look that found it so began then.
  if (member.untold == 0 && member.ended == kNever && member.sources <= member.now) member.ended = member.now;
  idle(member, waited.ready);
  const std::uint32_t lane = member.lane;
  begin_look(member, waited.ready);
  member.lane = lane;
  member.raised = false;
  return true;
}

void ReplayLanes::begin_look(Member& member, Picoseconds at) noexcept {
  member.looking = true;
  member.moved = false;
  member.lane = 0;
  member.now = member.began = at;
}

/// The processor has nothing to do until `next`. Convention 10: when the last put has left, a look finds the call ended.
void ReplayLanes::idle(Member& member, Picoseconds next) noexcept {
  if (member.untold == 0 && member.ended == kNever && member.sources < next) member.ended = member.sources;
}

/// When the first of what lanes wait for is there; kNever: nothing of it is known.
Picoseconds ReplayLanes::next_look(Rank rank) noexcept {
  Picoseconds next = kNever;
  for (std::uint32_t number = 0; number < state_.lanes_of; ++number) {
    const ReplayState::Lane& lane = state_.lane(rank, number);
    if (lane.ended) continue;
    const ReplayState::CounterState& waited = state_.counter(rank, 0, lane.step.wait_for);
    if (waited.value >= lane.step.wait_until) next = std::min(next, waited.ready);
  }
  return next;
}

/// False: in doubt, or the replay must be stepped.
bool ReplayLanes::look(Rank rank, Member& member, Picoseconds sure) {
  for (; member.lane < state_.lanes_of; ++member.lane) {
    ReplayState::Lane& lane = state_.lane(rank, member.lane);
    while (!lane.ended) {
      if (!state_.load(rank, member.lane, lane)) {
        lane.ended = true;
        member.drained = member.now;
        tell(member, lane);
        break;
      }
      const Brief& step = lane.step;
      if (step.wait_for != kNoCounter) {
        const ReplayState::CounterState& waited = state_.counter(rank, 0, step.wait_for);
        if (waited.value < step.wait_until) {
          if (member.now <= sure || member.now < state_.ports.takes(rank) ||
              state_.schedule(0).ties(step.wait_for))
            break;
          return false;
        }
        if (waited.ready > member.now) break;
      }
      member.moved = true;
      member.asked = false;
      execute(rank, member, lane);
      if (!fits_) return false;
      ReplayState::pass(lane);
    }
  }
  return true;
}

void ReplayLanes::execute(Rank rank, Member& member, ReplayState::Lane& lane) {
  const Brief& step = lane.step;
  switch (step.kind) {
    case Step::Kind::put:
    case Step::Kind::signal:
      if (state_.in_pieces(step) || must_step(step)) break;
      return post(rank, member, step);
    case Step::Kind::get: break;
    case Step::Kind::native: break;
    case Step::Kind::tell: tell(member, lane); return end_work(rank, member, step);
    case Step::Kind::copy:
    case Step::Kind::reduce: member.work(state_, rank, step); [[fallthrough]];
    case Step::Kind::nothing: return end_work(rank, member, step);
  }
  fits_ = false;
}

void ReplayLanes::post(Rank rank, Member& member, const Brief& step) {
  const std::uint64_t bytes = step.all_bytes();
  member.post(state_, rank, step, bytes);
  if (bytes == 0) end_work(rank, member, step);
}

/// What is over at once.
void ReplayLanes::end_work(Rank rank, Member& member, const Brief& step) {
  if (step.done == kNoCounter) return;
  state_.counter(rank, 0, step.done).add(1, member.now);
  member.raised = true;
}

void ReplayLanes::tell(Member& member, ReplayState::Lane& lane) noexcept {
  if (!std::exchange(lane.told, true)) --member.untold;
}

/// What another lane than the one in doubt can do.
ReplayLanes::Other ReplayLanes::state_of(Rank rank, std::uint32_t number) noexcept {
  ReplayState::Lane& lane = state_.lane(rank, number);
  if (lane.ended) return Other::tied;
  if (!state_.load(rank, number, lane) || lane.step.wait_for == kNoCounter) return Other::ready;
  if (state_.counter(rank, 0, lane.step.wait_for).value >= lane.step.wait_until) return Other::ready;
  return state_.schedule(0).ties(lane.step.wait_for) ? Other::tied : Other::waits;
}

void ReplayLanes::doubt(Rank rank, Member& member) {
  if (member.asked) return;
  member.alone = true;
  for (std::uint32_t number = 0; number < state_.lanes_of; ++number) {
    if (number == member.lane) continue;
    const Other other = state_of(rank, number);
    if (other != Other::tied) member.alone = false;
    if (other != Other::ready) continue;
    member.asked = true;
    state_.ports.heads().push({.time = member.now, .rank = rank, .kind = ReplayEvent::Kind::go_on});
    return;
  }
}

}  // namespace aqueduct::coll
