#pragma once

#include "coll/engine/team_engine.hpp"

namespace aqueduct::coll {

/// A blocking call of a team that learns (Learning): carried out as its key's turn has it, and timed.
///
/// The Event may have ended already, with the call's outcome, or the caller waits for it.
///
/// Requires: an Entry, as of a call that may wait.
Event run_and_learn(TeamState& team, TeamEngine& engine, const Request& request,
                    const CollCall& call) noexcept;

}  // namespace aqueduct::coll
