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

  /// Whether its handler may still reply to a registered handler.
  bool may_reply() const noexcept { return is_request && !replied && !is_raw; }
};

}  // namespace aqueduct::detail
