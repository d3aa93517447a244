#pragma once

#include "core/endpoint_state.hpp"

namespace aqueduct::rma {

/// Makes long requests possible: called once per endpoint, after Transfers.
void add_long_requests(aqueduct::detail::EndpointState& state) noexcept;

}  // namespace aqueduct::rma
