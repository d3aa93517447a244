#pragma once

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "team/team_state.hpp"

#include <chrono>

namespace aqueduct::coll {

/// What a CollPlan points to. The team may be gone, and then the endpoint too: see `closed`.
struct PlanRecord {
  aqueduct::detail::EndpointState& endpoint;
  aqueduct::detail::TeamState& team;
  Collectives& engine;
  std::chrono::nanoseconds limit;  ///< of `run`
  Plan* bound = nullptr;

  /// Whether the team has ended: then only `bound` may be used, and `endpoint` if bound->engine is not null. To be asked
  /// before the Entry, which needs the endpoint.
  bool closed() const noexcept {
    // The engine may outlive its Team, until what it has sent has arrived.
    return bound->engine == nullptr || bound->team_gone || barrier_of(team) == nullptr;
  }
  /// To be asked behind the Entry: another thread may have ended the team while this one waited for it.
  bool ended_meanwhile() const noexcept { return endpoint.guard.guards() && closed(); }
};

}  // namespace aqueduct::coll
