#include "coll/wait_for_call.hpp"

#include "core/event_access.hpp"
#include "core/wait.hpp"

namespace aqueduct::coll {

Status wait_for_call(aqueduct::detail::EndpointState& state, Event& event,
                     std::chrono::nanoseconds limit) noexcept {
  if (event.done()) return event.status();
  const Status status = core::wait_for(state, event, limit);
  // Not by the Event's destructor, which takes this for misuse.
  if (!event.done()) state.ops.abandon(aqueduct::detail::EventAccess::take(event));
  return status;
}

}  // namespace aqueduct::coll
