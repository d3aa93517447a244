#pragma once

#include <aqueduct/event.hpp>

#include "core/endpoint_state.hpp"

#include <utility>

namespace aqueduct::core {

/// The use of a caller's buffer as the source of an operation: it ends when the caller may write to the buffer again. A
/// layer takes one for an operation that reads the buffer for longer than the call lasts. Once the operation has begun,
/// the layer hands the use over: to the caller as an Event, to a wait, or to itself (`keep`).
class SourceUse {
 public:
  /// Takes an operation of kind kSource, which ends when the buffer is free. With
  /// `event` it is explicit, and `hand_over` gives it to the caller. Without one, or if
  /// all explicit operations are taken, it is internal, and `hand_over` waits for it.
  /// Errors: refused (`immediate`, and all operations are taken), and those of wait_until.
  /// With `group` and no event it is internal too, and joins the group: there is nothing to hand over.
  Status take(EndpointState& state, Rank peer, Event* event, bool immediate,
              GroupRecord* group = nullptr) noexcept;

  bool taken() const noexcept { return op_ != nullptr; }
  /// The operation. Its last part ends with the last read of the buffer. Null if none was taken.
  Op* op() const noexcept { return op_; }
  /// Ends the use if nothing has begun, so nothing reads the buffer.
  void give_up(EndpointState& state, Status why) noexcept;
  /// The layer itself watches the operation from now on, and collects it once it is done: of a buffer of its own, for which
  /// nobody waits. Returns the operation, whose last part the reader of the buffer ends.
  Op* keep() noexcept { return std::exchange(op_, nullptr); }
  /// Gives the caller its Event, or waits until the buffer is free.
  /// Returns the outcome of the use if it has waited, else ok.
  Status hand_over(EndpointState& state) noexcept;

 private:
  Op* op_ = nullptr;
  Event* event_ = nullptr;  ///< null: the call waits, unless there is a group
  bool grouped_ =
      false;  ///< the operation may be over, and its record in use again, once its parts have ended
};

}  // namespace aqueduct::core
