#include "runtime/pace.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

namespace aqueduct::runtime {

using aqueduct::detail::EndpointState;

namespace {

/// Whether an arrival ends a sleep of this endpoint, from whichever conduit it comes.
bool arrivals_wake(const EndpointState& state) {
  return std::ranges::all_of(std::array{state.near.get(), state.far.get()}, [](core::Conduit* conduit) {
    return conduit == nullptr || conduit->waitable() != nullptr;
  });
}

}  // namespace

void set_pace(EndpointState& state, std::size_t processors) {
  if (state.own_time) {
    // Spins and yields take no time of a clock that is not the system's. So waits sleep at once, which takes its time.
    state.pacing.spins = state.pacing.fewest = 0;
    state.pacing.yield_at_most = std::chrono::nanoseconds(0);
    return;
  }
  state.pacing.arrivals_wake = arrivals_wake(state);
  const auto cores = static_cast<std::size_t>(core::available_cores());
  core::Pacing& pacing = state.pacing;
  if (state.neighbours.size() > cores) pacing.spins = std::min(core::Pacing::kFewestSpins, pacing.most);
  // A rank that is bound to a core sees only that core, though the ranks have more.
  pacing.share_core((state.neighbours.size() + processors - 1) / processors);
  if (state.neighbours.size() <= processors) {
    pacing.fewest = core::Pacing::kFewestWithCores;
    pacing.spins = std::max(pacing.spins, std::min(pacing.fewest, pacing.most));
  } else if (state.far != nullptr) {
    // A rank with a processor of its own keeps it for as long as an answer takes.
    pacing.look = core::Pacing::kNetworkLook;
  }
}

}  // namespace aqueduct::runtime
