#pragma once

#include "core/endpoint_state.hpp"

namespace aqueduct::core {

/// Stands at the beginning of each function of the library that a program calls on an endpoint: holds the endpoint's
/// lock until the function returns, if several threads may call. One branch at each end if not. A function with an
/// Entry may call others with one.
///
/// In a forked child it does nothing: a thread of the parent may have held the lock at the fork, and no call does
/// anything there but refuse.
class [[nodiscard]] Entry {
 public:
  explicit Entry(EndpointState& state) noexcept {
    if (state.guard.guards() && !state.in_child()) [[unlikely]] {
      guard_ = &state.guard;
      guard_->enter();
    }
  }
  ~Entry() {
    if (guard_ != nullptr) [[unlikely]]
      guard_->leave();
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  Guard* guard_ = nullptr;
};

}  // namespace aqueduct::core
