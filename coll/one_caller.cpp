#include "coll/one_caller.hpp"

#include <aqueduct/expect.hpp>

namespace aqueduct::coll {

namespace {

/// The address of this thread's own is its name.
constinit thread_local char caller_mark = 0;

}  // namespace

void OneCaller::enter(aqueduct::detail::TeamState& team) noexcept {
  if (team.endpoint.guard.guards() || team.endpoint.in_child()) return;
  const void* before = nullptr;
  // Relaxed: it looks for misuse and orders nothing.
  if (team.caller.compare_exchange_strong(before, &caller_mark, std::memory_order_relaxed)) {
    team_ = &team;
    return;
  }
  AQUEDUCT_EXPECT(before == &caller_mark,
                  "two threads are in collective calls of one team at once; let one thread make them, or set "
                  "Threads::multiple and order the calls");
}

}  // namespace aqueduct::coll
