#pragma once

#include <aqueduct/event.hpp>

#include "core/endpoint_state.hpp"
#include "team/team_state.hpp"

#include <chrono>

namespace aqueduct::coll {

/// Waits for the operation of a blocking call. If the wait ends without it (timed_out), the operation goes on and the
/// Event is given up: the caller of a blocking call has none. Requires: an Entry, or EndpointState::is_plain().
Status wait_for_call(aqueduct::detail::EndpointState& state, Event& event,
                     std::chrono::nanoseconds limit) noexcept;

/// Before a blocking call: if this member has refused its last one for want of memory, waits until it knows whether all others
/// have done so, which decides if the team goes on. After 20 s the team stays broken. Requires: an Entry.
void wait_while_in_doubt(aqueduct::detail::TeamState& team, std::chrono::nanoseconds limit) noexcept;

}  // namespace aqueduct::coll
