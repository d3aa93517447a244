// Calls about plans. They send nothing, but count as calls of the team: the numbers of all later calls depend on them. A plan
// has no place of its own in the team's scratch (docs/decisions/0087-plans-have-no-place.md): its starts are calls.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <new>
#include <utility>

namespace aqueduct::coll {

namespace {

CallDescription description_about(const Plan& plan, std::uint8_t about) noexcept {
  return call_about_plan(plan.call->request.description, about);
}

}  // namespace

Result<Plan*> TeamEngine::bind(const Request& request) noexcept {
  if (!broken_.ok()) return broken_;
  const auto call = know(request);
  if (!call) return call.status();
  if (const Status status = have_own_method(**call); !status) {
    give_up(**call);
    return status;
  }
  return bind_known(**call);
}

/// The method of a plan, with the steps of its root: calls of the same shape with other roots write others into theirs.
Status TeamEngine::have_own_method(KnownCall& call) noexcept try {
  if (call.method == nullptr || call.method->on_board) return {};
  Method* const own = layer_.methods().take();
  if (own == nullptr) return no_memory_here();
  try {
    *own = *call.method;
  } catch (const std::bad_alloc&) {
    layer_.methods().give_back(*own);
    throw;
  }
  own->kept = false;
  own->uses = 1;
  own->next = nullptr;
  give_up(*std::exchange(call.method, own));
  if (own->seen_root != call.run.root) keep_steps(*own, call.run);
  return {};
} catch (const std::bad_alloc&) {
  return no_memory_here();
}

Result<Plan*> TeamEngine::bind(BlocksCall& blocks) noexcept {
  if (!broken_.ok()) {
    give_back_unused(blocks);
    return broken_;
  }
  const auto call = know(blocks);
  return call ? bind_known(**call) : call.status();
}

/// Takes the caller's use of `call`, also on failure.
Result<Plan*> TeamEngine::bind_known(KnownCall& call) noexcept {
  Plan* const plan = new (std::nothrow) Plan;
  if (plan == nullptr) {
    give_up(call);
    return no_memory_here();
  }
  plan->call = &call;
  if (call.method == nullptr) plan->obstacles.set(Plan::kIndirect);
  if (ranks_ > 1) {
    if (const Status status = note(description_about(*plan, CallDescription::kBinds)); !status) {
      give_up(call);
      delete plan;
      return status;
    }
  }
  call.kept = true;
  plan->engine = this;
  plan->next = plans_;
  plans_ = plan;
  return plan;
}

/// A start that is not like an earlier one: see start.hpp.
Event TeamEngine::start(Plan& plan) noexcept {
  end_doubt();
  if (!broken_.ok()) return Event(broken_);
  if (plan.runs()) {
    // Told to the others: if their last start is over, they count this one, and would take the next one here for it.
    const Status status(ErrorCode::invalid_argument);
    refuse(refused_call(plan.call->request.description, status.code()), status);
    return Event(status);
  }
  if (!plan.obstacles.has(Plan::kIndirect))
    return begin_or_start_again(*plan.call, plan.memory(), false, &plan);
  BlocksCall* const blocks = plan.call->blocks;
  return blocks != nullptr ? begin_blocks(*blocks, /*blocking=*/false, &plan) : alone(plan.call->request);
}

Status TeamEngine::end(Plan& plan) noexcept {
  if (plan.runs()) return ErrorCode::invalid_argument;
  end_doubt();
  if (ranks_ > 1 && broken_.ok()) {
    if (const Status status = note(description_about(plan, CallDescription::kEnds)); !status) return status;
  }
  drop(plan);
  return {};
}

void TeamEngine::drop(Plan& plan) noexcept {
  plan.dropped = true;
  plan.call->kept = false;
  drop_prepared(*plan.call);
  release(plan);
}

/// Frees a plan that the program has given up, once nothing names it.
void TeamEngine::release(Plan& plan) noexcept {
  if (!plan.dropped || plan.held != 0) return;
  for (Plan** at = &plans_; *at != nullptr; at = &(*at)->next) {
    if (*at != &plan) continue;
    *at = plan.next;
    give_up(*plan.call);
    delete &plan;
    return;
  }
}

}  // namespace aqueduct::coll
