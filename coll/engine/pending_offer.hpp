#pragma once

#include "coll/engine/collectives.hpp"

#include <span>

namespace aqueduct::coll {

/// The offer of this member for a team that is being made. It ends in one of three ways: the team takes it, it is
/// withdrawn, or, by the destructor alone, its place stays unused until the job ends.
///
/// The last is for a team that has failed here in the middle of an exchange, by a lost member or for lack of memory: other
/// members may have made it, and write to the place.
class PendingOffer {
 public:
  /// `wanted`: this member will be in the team; otherwise it offers nothing.
  PendingOffer(EndpointState& state, Rank most_members, bool wanted = true) noexcept
      : engine_(state.layer<Collectives>()) {
    if (engine_ != nullptr && wanted) mine_ = engine_->offer(most_members);
  }

  const TeamOffer& mine() const noexcept { return mine_; }
  /// The team is made. May throw std::bad_alloc; nothing has happened then.
  void enter(TeamState& team, std::span<const TeamOffer> all) {
    if (engine_ != nullptr) engine_->enter(team, mine_, all);
    mine_ = {};
  }
  /// No member makes the team, because this one has told all of a failure of its own. Does nothing after `enter`.
  void withdraw() noexcept {
    if (engine_ != nullptr) engine_->withdraw(mine_);
    mine_ = {};
  }

 private:
  Collectives* engine_;
  TeamOffer mine_;
};

/// Ends what the engine has for a team, if it has something. See Collectives::leave.
inline void leave_collectives(TeamState& team, bool together) noexcept {
  if (team.slot(aqueduct::detail::TeamSlot::collectives) == nullptr) return;  // its endpoint may be gone
  team.endpoint.layer<Collectives>()->leave(team, together);
}

}  // namespace aqueduct::coll
