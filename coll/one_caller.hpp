#pragma once

#include "team/team_state.hpp"

namespace aqueduct::coll {

/// Stands in each collective call on a team. In checked builds it ends the program if another thread is in one, unless
/// the endpoint's guard sees to that (Threads::serialized) or the calls may overlap (Threads::multiple): two calls at
/// once have no order, so members could disagree about it. Calls within a call, as by a continuation, are of one thread.
class [[nodiscard]] OneCaller {
 public:
  explicit OneCaller(aqueduct::detail::TeamState& team) noexcept {
#ifdef AQUEDUCT_CHECKED
    enter(team);
#else
    static_cast<void>(team);
#endif
  }
  ~OneCaller() {
    if (team_ != nullptr) team_->caller.store(nullptr, std::memory_order_relaxed);
  }
  OneCaller(const OneCaller&) = delete;
  OneCaller& operator=(const OneCaller&) = delete;

 private:
  void enter(aqueduct::detail::TeamState& team) noexcept;

  aqueduct::detail::TeamState* team_ = nullptr;  ///< null: not the outermost call, or nothing to look for
};

}  // namespace aqueduct::coll
