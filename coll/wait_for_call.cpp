#include "coll/wait_for_call.hpp"

#include "coll/engine/collectives.hpp"
#include "core/event_access.hpp"
#include "core/memory_patience.hpp"
#include "core/wait.hpp"

#include <algorithm>

namespace aqueduct::coll {

Status wait_for_call(aqueduct::detail::EndpointState& state, Event& event,
                     std::chrono::nanoseconds limit) noexcept {
  if (event.done()) return event.status();
  const Status status = core::wait_for(state, event, limit);
  if (event.done()) return status;
  core::Op& op = aqueduct::detail::EventAccess::take(event);
  state.layer<Collectives>()->times_out(op);
  state.ops.abandon(op);  // not by the Event's destructor, which takes this for misuse
  return status;
}

void wait_while_in_doubt(aqueduct::detail::TeamState& team, std::chrono::nanoseconds limit) noexcept {
  TeamEngine* const engine = Collectives::engine_of(team);
  if (engine == nullptr || !engine->in_doubt() || team.endpoint.in_child()) [[likely]]
    return;
  static_cast<void>(core::wait_until(
      team.endpoint, [engine] { return !engine->in_doubt(); }, kNoRank,
      [&] {
        return fmt::format(
            "the members of a team of {} ranks, for whose last call this rank has had no memory, to make or "
            "refuse it too",
            team.size());
      },
      std::min<std::chrono::nanoseconds>(limit, core::MemoryPatience::kLimitInFlight)));
  engine->end_doubt();  // after the limit: news may have been lost for want of memory, too
}

}  // namespace aqueduct::coll
