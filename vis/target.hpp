#pragma once

#include "core/endpoint_state.hpp"

namespace aqueduct::vis {

/// Registers the handlers of packed transfers: those of the target, and that of the initiator for the data of a get.
void add_packed_handlers(aqueduct::detail::EndpointState& state) noexcept;

}  // namespace aqueduct::vis
