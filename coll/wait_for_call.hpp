#pragma once

#include <aqueduct/event.hpp>

#include "core/endpoint_state.hpp"

#include <chrono>

namespace aqueduct::coll {

/// Waits for the operation of a blocking call. If the wait ends without it (timed_out), the operation goes on and the
/// Event is given up: the caller of a blocking call has none. Requires: an Entry.
Status wait_for_call(aqueduct::detail::EndpointState& state, Event& event,
                     std::chrono::nanoseconds limit) noexcept;

}  // namespace aqueduct::coll
