#pragma once

#include "core/endpoint_state.hpp"

#include <cstddef>

namespace aqueduct::runtime {

/// Sets how long the waits of an endpoint spin at first. With more ranks than cores spinning only delays the others.
/// `processors`: on which the ranks of its host may run.
/// Requires: its conduits are open, and its neighbours are known.
void set_pace(aqueduct::detail::EndpointState& state, std::size_t processors);

}  // namespace aqueduct::runtime
