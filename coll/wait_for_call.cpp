#include "coll/wait_for_call.hpp"

#include "coll/engine/collectives.hpp"
#include "core/event_access.hpp"
#include "core/wait.hpp"

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

}  // namespace aqueduct::coll
