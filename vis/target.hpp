#pragma once

#include "core/endpoint_state.hpp"

namespace aqueduct::vis {

/// Registers what the peer of a packed transfer does, and what its initiator does with the data of a get.
void add_packed_handlers(aqueduct::detail::EndpointState& state) noexcept;

}  // namespace aqueduct::vis
