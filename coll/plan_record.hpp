#pragma once

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "team/team_state.hpp"

#include <chrono>

namespace aqueduct::coll {

/// What a CollPlan points to. When the plan is destroyed, team and endpoint may be gone: then bound->engine is null.
struct PlanRecord {
  aqueduct::detail::EndpointState& endpoint;
  aqueduct::detail::TeamState& team;
  Collectives& engine;
  std::chrono::nanoseconds limit;  ///< of `run`
  Plan* bound = nullptr;

  /// Whether the team has ended. Requires: the Team lives.
  bool closed() const noexcept { return bound->engine == nullptr || barrier_of(team) == nullptr; }
};

}  // namespace aqueduct::coll
