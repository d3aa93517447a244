#include "coll/model/replay_ahead.hpp"

#include <algorithm>
#include <span>

namespace aqueduct::coll {

ReplayAhead::ReplayAhead(ReplayState& state) : state_(state), members_(state.ranks) {
  for (Rank rank = 0; rank < state.ranks; ++rank) members_[rank].now = state.called(rank);
}

bool ReplayAhead::run() {
  for (Rank rank = 0; rank < state_.ranks && fits_; ++rank) go_on(rank);
  replay_arrivals(state_, members_, fits_, [&](std::span<const ReplayEvent> events, Picoseconds) {
    for (const ReplayEvent& event : events) arrive(event);
  });
  for (Rank rank = 0; rank < state_.ranks; ++rank) {
    const Member& member = members_[rank];
    ReplayedMember& out = state_.out.members[rank];
    out.drained = member.now;
    out.ended = member.ended;
    out.busy = member.busy;
  }
  return fits_;
}

void ReplayAhead::arrive(const ReplayEvent& head) {
  const Picoseconds in_place = state_.ports.take(head);
  if (head.kind == ReplayEvent::Kind::part) return;
  state_.counter(head.rank, 0, head.counter).add(head.add, in_place);
  const ReplayState::Lane& lane = state_.lane(head.rank, 0);
  if (lane.loaded && lane.step.wait_for == head.counter) go_on(head.rank);
}

/// Runs the lane until it waits for what has not arrived yet.
void ReplayAhead::go_on(Rank rank) {
  Member& member = members_[rank];
  ReplayState::Lane& lane = state_.lane(rank, 0);
  while (state_.load(rank, 0, lane)) {
    const Brief& step = lane.step;
    if (step.wait_for != kNoCounter) {
      const ReplayState::CounterState& waited = state_.counter(rank, 0, step.wait_for);
      if (waited.value < step.wait_until) return;
      if (waited.ready > member.now) {
        end_look(member, waited.ready);
        member.now = waited.ready;
      }
    }
    if (!execute(rank, member, step)) return;
    ReplayState::pass(lane);
  }
  if (lane.ended) return;
  lane.ended = true;
  member.told = std::min(member.told, member.now);
  end_look(member, kNever);
}

/// False: the replay must be stepped, or has failed.
bool ReplayAhead::execute(Rank rank, Member& member, const Brief& step) {
  switch (step.kind) {
    case Step::Kind::put:
    case Step::Kind::signal:
      if (state_.in_pieces(step)) break;
      post(rank, member, step);
      return true;
    case Step::Kind::get: break;
    case Step::Kind::native: state_.fail("a step leaves the operation to the conduit"); return false;
    case Step::Kind::tell: member.told = std::min(member.told, member.now); return true;
    case Step::Kind::copy:
    case Step::Kind::reduce: member.work(state_, rank, step); [[fallthrough]];
    case Step::Kind::nothing:
      if (step.done != kNoCounter) state_.counter(rank, 0, step.done).add(1, member.now);
      return true;
  }
  fits_ = false;
  return false;
}

void ReplayAhead::post(Rank rank, Member& member, const Brief& step) {
  const std::uint64_t bytes = step.all_bytes();
  const Picoseconds left = member.post(state_, rank, step, bytes);
  if (step.done != kNoCounter) state_.counter(rank, 0, step.done).add(1, bytes > 0 ? left : member.now);
}

/// Convention 10: a look has ended; the next one begins at `next`, or earlier when the last put has left.
void ReplayAhead::end_look(Member& member, Picoseconds next) noexcept {
  if (member.told == kNever || member.ended != kNever) return;
  if (member.sources < next || member.sources <= member.now)
    member.ended = std::max(member.now, member.sources);
}

}  // namespace aqueduct::coll
