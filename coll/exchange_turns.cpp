// Which exchange of a team comes next, and which are given up.

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"
#include "coll/exchange.hpp"

#include <algorithm>

namespace aqueduct::coll {

using aqueduct::detail::TeamState;

namespace {

const char* name_of(std::uint8_t call) noexcept {
  switch (static_cast<SetUp>(call)) {
    case SetUp::team: return "Team::split or dup";
    case SetUp::segment: return "Segment::create";
    case SetUp::release: return "Segment::release";
    case SetUp::scratch: return "use_scratch";
    case SetUp::tree: return "Team::use_tree";
    case SetUp::none: break;
  }
  return "a later part of such a call";
}

}  // namespace

// Who asks waits in an operation of the team, so it has not heard of the exchange that was given up, or of that alone and not yet
// that its operation is over: then it gives up the same one again.
// That exchange is the answer. A later one is that of this member's next call, which nobody must give up for the same difference.
std::uint64_t Exchanges::under_way(std::uint64_t team) const noexcept {
  std::uint64_t last = 0;
  for (const UnderWay* one = under_way_; one != nullptr; one = one->next) {
    if (one->team == team && one->given_up) last = std::max(last, one->number);
  }
  TeamState* const known = state_.barriers->find(team);
  const BarrierState* const barrier = known != nullptr ? barrier_of(*known) : nullptr;
  const std::uint64_t given_up = barrier != nullptr ? barrier->given_up : 0;
  return given_up != 0 ? std::min(last, given_up) : last;
}

std::uint64_t Exchanges::begun(std::uint64_t team) const noexcept {
  TeamState* const known = state_.barriers->find(team);
  return known != nullptr ? barrier_of(*known)->exchanges : 0;
}

bool Exchanges::give_up(std::uint64_t team, std::uint64_t number, Status why) noexcept {
  TeamState* const known = state_.barriers->find(team);
  BarrierState* const barrier = known != nullptr ? barrier_of(*known) : nullptr;
  if (barrier == nullptr) return false;
  if (number > barrier->given_up) {
    barrier->given_up = number;
    barrier->why_given_up = why;
  }
  UnderWay* const one = find(team, number);
  if (one == nullptr || !one->given_up) return false;
  one->given_up = why;
  return !one->comes_after;
}

bool Exchanges::finishing() const noexcept {
  const BarrierState* const barrier = state_.world != nullptr ? barrier_of(state_.world->state()) : nullptr;
  return barrier != nullptr && barrier->finishing;
}

bool Exchanges::comes_after(Turn turn, const BarrierState* barrier) noexcept {
  if (turn == Turn::later || barrier == nullptr) return false;
  const TeamEngine* const engine = Collectives::engine_of(*barrier->team);
  return engine != nullptr && !engine->broken().ok();
}

/// The number of the exchange that begins. 0: there is none, because the call was given up; BarrierState::why_given_up says why.
std::uint64_t Exchanges::number_of(Turn turn, BarrierState* barrier, std::uint64_t& exchanges) noexcept {
  if (barrier == nullptr) return ++exchanges;
  // A call whose first exchange was given up has no further one: nobody would take part.
  if (turn == Turn::later && barrier->left) return 0;
  barrier->left = false;
  if (++exchanges != barrier->given_up) return exchanges;
  // A member whose team is broken leaves this exchange out. Another one is in the call that others have given up.
  if (comes_after(turn, barrier)) return ++exchanges;
  leave_given_up(*barrier);
  return 0;
}

void Exchanges::leave_given_up(BarrierState& barrier) noexcept {
  barrier.left = true;
  TeamEngine* const engine = Collectives::engine_of(*barrier.team);
  if (engine != nullptr && engine->broken().ok())
    engine->heard(barrier.why_given_up.peer(), engine->calls() + 1, forgotten_call());
}

// All members have the same contributions, so all find the same.
Status Exchanges::same_call(TeamState& team, const Contributions& all) noexcept {
  for (Rank i = 1; i < all.size(); ++i) {
    if (all.call_of(i) == all.call_of(0)) continue;
    state_.log.error("rank {} is in {} of a team, rank {} in {}", team.members[0], name_of(all.call_of(0)),
                     team.members[i], name_of(all.call_of(i)));
    BarrierState& barrier = *barrier_of(team);
    barrier.left = true;
    barrier.why_given_up = {ErrorCode::mismatch, team.members[i]};
    return barrier.why_given_up;
  }
  return {};
}

}  // namespace aqueduct::coll
