// The barriers of Job::finish, and what the program has left in flight before it.

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"

namespace aqueduct::coll {

namespace {

/// With this vote of one member a barrier ends with mismatch.
core::BarrierVote agrees_with_none() noexcept {
  core::BarrierVote two_values(0);
  two_values.merge(core::BarrierVote(1));
  return two_values;
}

}  // namespace

void Barriers::ask_to_finish(TeamState& world) noexcept {
  BarrierState& of_program = *barrier_of(world);
  if (!of_program.finishing) left_ = of_program.asked;
  of_program.finishing = of_program.leaving = true;
  finish_.team = &world;
  finish_.leaving = true;
  finish_.split_over = false;
  ask_for_phase(finish_, {}, nullptr);
}

// One at a time: the next one is begun when all ranks have reached this one.
void Barriers::join_phases() noexcept {
  BarrierState& of_program = *barrier_of(*finish_.team);
  const TeamEngine* const engine = of_program.native ? nullptr : Collectives::engine_of(*finish_.team);
  // The engine ends its barriers itself: it is told of this rank's calls.
  if (engine != nullptr && engine->has_barriers()) return;
  settle(of_program);
  if (of_program.under_way || finish_.team->lost_member() != kNoRank) return;
  ask_for_phase(of_program, agrees_with_none(), nullptr);
  if (!of_program.under_way)
    ++state_.moves;  // others may be in the next one already: no sleep before that is joined
}

bool Barriers::left_over() noexcept {
  BarrierState& of_program = *barrier_of(*finish_.team);
  if (!finish_.split_outcome || finish_.team->lost_member() != kNoRank) return true;
  settle(of_program);
  return of_program.phase > left_ || (of_program.phase == left_ && !of_program.under_way);
}

}  // namespace aqueduct::coll
