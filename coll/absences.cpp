#include "coll/absences.hpp"

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/wire.hpp"

#include <cstring>
#include <memory>

namespace aqueduct::coll {

using aqueduct::detail::Incoming;

Absences::Absences(core::EndpointState& state) : state_(state) {
  const auto take = [](void* self, Incoming& in, const std::byte* args, core::MutableBytes) {
    Absence absence;
    std::memcpy(&absence, args, sizeof absence);
    static_cast<Absences*>(self)->take(in.source, absence);
  };
  state.messages->add_internal(kAbsent, AmCategory::short_request, sizeof(Absence),
                               {take, std::shared_ptr<void>(std::shared_ptr<void>(), this)});
}

// Runs inside a handler. A member that has the team, or will have it, has made its TeamState before anyone can say this.
void Absences::take(Rank source, const Absence& absence) noexcept {
  Barriers& barriers = *state_.barriers;
  TeamState* const team = barriers.find(absence.team);
  if (team == nullptr || team->find(source) == kNoRank || !team->absent) return;
  const ErrorCode why = code_from(absence.code);
  team->absent = {why != ErrorCode::ok ? why : ErrorCode::internal, source};
  state_.layer<Collectives>()->fail(*team, team->absent);
  barriers.end_operations(*barrier_of(*team));
  state_.guard.changed();  // waits of other threads end too
}

Status Absences::tell(const TeamState& team, ErrorCode why) noexcept {
  const Absence absence{team.id, static_cast<std::uint32_t>(why), 0};
  Status first;
  for (Rank i = 0; i < team.size(); ++i) {
    if (i == team.index) continue;
    const Status told = team.endpoint.messages->request(team.members[i], AmCategory::short_request, kAbsent,
                                                        {&absence, sizeof absence, 0}, nullptr, {}, {});
    if (first) first = told;
  }
  return first;
}

}  // namespace aqueduct::coll
