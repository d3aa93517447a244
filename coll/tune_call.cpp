// The public call of a search.

#include <aqueduct/tune.hpp>

#include "coll/barriers.hpp"
#include "coll/may_call.hpp"
#include "coll/tuning_run.hpp"
#include "coll/wait_for_call.hpp"
#include "core/entry.hpp"

#include <new>

namespace aqueduct {

Result<TuneReport> tune(Team& team, std::span<const Collective> operations,
                        std::span<const std::uint64_t> bytes, const TuneOptions& options) {
  detail::TeamState& state = team.state();
  if (coll::barrier_of(state) == nullptr) return ErrorCode::closed;
  {
    const core::Entry entry(state.endpoint);
    if (const Status status = coll::may_wait(state); !status) return status;
    if (coll::Collectives::engine_of(state) == nullptr) return ErrorCode::closed;
    coll::wait_while_in_doubt(state, std::chrono::nanoseconds::max());
  }
  try {
    return coll::TuningRun(team, options).run(operations, bytes);
  } catch (const std::bad_alloc&) {
    // The others wait for this member's next call.
    const core::Entry entry(state.endpoint);
    coll::Collectives::engine_of(state)->give_up_calls(ErrorCode::no_memory);
    return ErrorCode::no_memory;
  }
}

}  // namespace aqueduct
