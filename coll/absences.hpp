#pragma once

#include <aqueduct/status.hpp>

#include "core/endpoint_state.hpp"
#include "team/team_state.hpp"

namespace aqueduct::coll {

using aqueduct::detail::TeamState;

struct Absence;

/// Members that do not have a team which others have, because they could not end its creation. To the others such a member
/// counts as lost, in this team only.
///
/// Cost: a short message for each other member, only after such a failure.
class Absences {
 public:
  explicit Absences(core::EndpointState& state);
  Absences(const Absences&) = delete;
  Absences& operator=(const Absences&) = delete;

  /// Tells the other members that this one does not have the team. Waits for room.
  static Status tell(const TeamState& team, ErrorCode why) noexcept;

 private:
  void take(Rank source, const Absence& absence) noexcept;

  core::EndpointState& state_;
};

}  // namespace aqueduct::coll
