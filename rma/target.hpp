#pragma once

#include "core/endpoint_state.hpp"

namespace aqueduct::rma {

/// Registers what the target of reference operations does, and what their initiator does with the answers.
void add_reference_handlers(aqueduct::detail::EndpointState& state) noexcept;

}  // namespace aqueduct::rma
