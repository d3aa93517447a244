#include <aqueduct/coroutine.hpp>

#include "core/entry.hpp"
#include "core/wait.hpp"

namespace aqueduct::detail {

Status run_tasks(Endpoint& ep, void (*begin)(void*) noexcept, std::size_t (*left)(void*) noexcept,
                 void* tasks) noexcept {
  EndpointState& state = ep.state();
  const core::Entry entry(state);
  if (state.in_child()) return ErrorCode::invalid_argument;
  if (state.must_not_wait()) return ErrorCode::in_handler;
  // From its beginning on a task runs as a continuation does: what it may call does not depend on whether it has been
  // suspended before. A continuation of another thread may be waiting for its own operation; then its end comes first.
  const Status alone = core::wait_until(
      state, [&] { return !state.continuations.has_turn(); }, kNoRank,
      [] { return std::string("the end of another thread's continuation"); });
  if (!alone) return alone;
  {
    const core::Continuations::Turn turn(state);
    begin(tasks);
  }
  return core::wait_until(
      state, [&] { return left(tasks) == 0; }, kNoRank,
      [&] { return fmt::format("up to {} tasks to end", left(tasks)); });
}

}  // namespace aqueduct::detail
