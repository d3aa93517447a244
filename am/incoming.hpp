#pragma once

#include "core/endpoint_state.hpp"

namespace aqueduct::detail {

/// The message whose handler is running.
struct Incoming {
  EndpointState& state;
  Rank source;
  bool is_request;
  bool replied = false;
  bool is_raw = false;  ///< its sender has a space of raw handlers, and may have no plain ones
};

}  // namespace aqueduct::detail
