#pragma once

#include "core/wait.hpp"

#include <string>
#include <utility>

namespace aqueduct::runtime {

/// A call that makes or ends a segment. Such calls of one endpoint run one after another: the members of a team agree on
/// the number of a segment, and a second thread of this rank must not use the number meanwhile.
class SetUpCall {
 public:
  /// Waits for other threads' calls to end. Requires: a core::Entry.
  explicit SetUpCall(core::EndpointState& state) noexcept
      : state_(state),
        status_(core::wait_until(
            state, [&] { return !std::exchange(state.sets_up, true); }, kNoRank,
            [] { return std::string("another thread of this rank to make or release a segment"); })) {}
  ~SetUpCall() {
    if (!status_) return;
    state_.sets_up = false;
    state_.guard.changed();
  }
  SetUpCall(const SetUpCall&) = delete;
  SetUpCall& operator=(const SetUpCall&) = delete;

  /// Why the call cannot begin. Errors: those of wait_until.
  Status status() const noexcept { return status_; }

 private:
  core::EndpointState& state_;
  Status status_;
};

}  // namespace aqueduct::runtime
