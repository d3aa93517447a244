#pragma once

#include <aqueduct/event.hpp>

#include "core/op.hpp"

#include <utility>

namespace aqueduct::detail {

/// The operation that an Event holds.
struct EventAccess {
  /// Null: the Event is finished, and its outcome has been read.
  static core::Op* operation(const Event& event) noexcept { return static_cast<core::Op*>(event.op_); }
  /// Takes it out of the Event, which is finished afterwards. Requires: there is one.
  static core::Op& take(Event& event) noexcept {
    return *static_cast<core::Op*>(std::exchange(event.op_, nullptr));
  }
};

}  // namespace aqueduct::detail
