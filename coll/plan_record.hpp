#pragma once

#include "coll/engine/collectives.hpp"
#include "team/team_state.hpp"

#include <chrono>

namespace aqueduct::coll {

/// What a CollPlan points to.
struct PlanRecord {
  aqueduct::detail::EndpointState& endpoint;
  aqueduct::detail::TeamState* team;  ///< may be gone when the plan is destroyed
  Collectives& engine;
  std::chrono::nanoseconds limit;  ///< of `run`
  void* plan = nullptr;            ///< the engine's
};

}  // namespace aqueduct::coll
