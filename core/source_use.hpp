#pragma once

#include <aqueduct/event.hpp>

#include "core/endpoint_state.hpp"

namespace aqueduct::core {

/// The use of a caller's buffer as a source: when may the caller write to it again? A layer takes one with an operation that
/// reads the buffer for longer than the call, and hands it over once the operation has begun.
class SourceUse {
 public:
  /// Takes an operation that ends when the buffer is free. The caller's `event` is to hold it; without an event, or when all
  /// explicit operations are taken, the call waits for the buffer in `hand_over`.
  /// Errors: refused (`immediate`, and all operations are taken), and those of wait_until.
  Status take(EndpointState& state, Rank peer, Event* event, bool immediate) noexcept;

  bool taken() const noexcept { return op_ != nullptr; }
  /// Its operation, to be ended by whoever reads the buffer last; null if none was taken.
  Op* op() const noexcept { return op_; }
  /// Nothing has begun, so nothing reads the buffer: gives the operation back.
  void give_up(EndpointState& state, Status why) noexcept;
  /// Gives the caller the event, or waits until the buffer is free. Returns how the use ended, if it waited.
  Status hand_over(EndpointState& state) noexcept;

 private:
  Op* op_ = nullptr;
  Event* event_ = nullptr;  ///< null: the call waits
};

}  // namespace aqueduct::core
