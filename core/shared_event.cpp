#include <aqueduct/shared_event.hpp>

#include "core/entry.hpp"
#include "core/op.hpp"
#include "core/wait.hpp"

namespace aqueduct::detail {

void share(OpFace* op) noexcept {
  auto& whole = *static_cast<core::Op*>(op);
  const core::Entry entry(const_cast<Endpoint*>(whole.pool->owner())->state());
  core::OpPool::share(whole);
}

// Needs no Entry: it is one atomic subtraction, and a list that any thread may extend.
void drop_holder(OpFace* op) noexcept {
  auto& whole = *static_cast<core::Op*>(op);
  whole.pool->drop_holder(whole);
}

Status outcome_of(const OpFace* op) noexcept { return static_cast<const core::Op*>(op)->outcome; }

Status wait_shared(Endpoint& ep, OpFace* op, std::chrono::nanoseconds limit) noexcept {
  const core::Op& whole = *static_cast<core::Op*>(op);
  const core::Entry entry(ep.state());
  const Status status = core::wait_until(
      ep.state(), [&] { return whole.done.load(std::memory_order_acquire) != 0; }, whole.peer,
      [&] { return core::describe_operation(whole); }, limit);
  return status ? whole.outcome : status;
}

}  // namespace aqueduct::detail
