#pragma once

#include "coll/engine/collectives.hpp"

#include <span>

namespace aqueduct::coll {

/// Makes what the engine has for a new team, before its members agree that it is made. Returns the place that this member
/// offers it. May throw std::bad_alloc; nothing has happened then.
inline TeamOffer prepare_collectives(TeamState& team) {
  Collectives* const engine = team.endpoint.layer<Collectives>();
  return engine != nullptr ? engine->prepare(team) : TeamOffer{};
}

/// All members make the team: gives it its scratch. `all`: the offers of its members, in its order. If memory runs out, the
/// team is of no use here, but the others have it.
inline Status settle_collectives(TeamState& team, std::span<const TeamOffer> all) noexcept {
  Collectives* const engine = team.endpoint.layer<Collectives>();
  return engine != nullptr ? engine->settle(team, all) : Status{};
}

/// Ends what the engine has for a team, if it has something. See Collectives::leave.
inline void leave_collectives(TeamState& team, bool together) noexcept {
  if (team.slot(aqueduct::detail::TeamSlot::collectives) == nullptr) return;  // its endpoint may be gone
  team.endpoint.layer<Collectives>()->leave(team, together);
}

}  // namespace aqueduct::coll
