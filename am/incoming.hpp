#pragma once

#include "core/endpoint_state.hpp"

namespace aqueduct::detail {

/// The message whose handler is running.
struct Incoming {
  EndpointState& state;
  Rank source;
  bool is_request;
  bool replied = false;
};

}  // namespace aqueduct::detail
