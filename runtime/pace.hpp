#pragma once

#include "core/endpoint_state.hpp"

namespace aqueduct::runtime {

/// Sets how long the waits of an endpoint spin at first. With more ranks than cores spinning only delays the others.
/// Requires: its conduits are open, and its neighbours are known.
void set_pace(aqueduct::detail::EndpointState& state);

}  // namespace aqueduct::runtime
