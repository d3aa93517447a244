#pragma once

#include "team/team_state.hpp"

namespace aqueduct::coll {

// Whether a collective call may begin at this point. One that may not does not count in the team's order, and the other
// members are not told of it. Requires: an Entry, but for those at once.

/// Of a call that does not wait, without an Entry. Asked before anything else is read that another thread in the endpoint may
/// change.
inline bool may_begin_at_once(const aqueduct::detail::EndpointState& endpoint) noexcept {
  return endpoint.is_plain();
}

/// The same of a blocking call.
inline bool may_wait_at_once(const aqueduct::detail::EndpointState& endpoint) noexcept {
  return endpoint.is_plain() && !endpoint.in_continuation;
}

/// Of a call that does not wait.
inline Status may_begin(aqueduct::detail::TeamState& team) noexcept {
  if (team.endpoint.in_child()) return ErrorCode::invalid_argument;
  if (team.endpoint.polling) return ErrorCode::in_handler;
  return {};
}
/// Of a blocking call: before anything has begun.
inline Status may_wait(aqueduct::detail::TeamState& team) noexcept {
  if (team.endpoint.in_child()) return ErrorCode::invalid_argument;
  if (team.endpoint.must_not_wait()) return ErrorCode::in_handler;
  return {};
}

}  // namespace aqueduct::coll
