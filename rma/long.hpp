#pragma once

#include "core/endpoint_state.hpp"

namespace aqueduct::rma {

/// Gives the message layer its function for long requests. Called by the constructor of Transfers.
void add_long_requests(aqueduct::detail::EndpointState& state) noexcept;

}  // namespace aqueduct::rma
