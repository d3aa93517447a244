// Collective calls whose arguments were bound before.

#include <aqueduct/coll.hpp>

#include "coll/engine/start.hpp"
#include "coll/may_call.hpp"
#include "coll/one_caller.hpp"
#include "coll/plan_record.hpp"
#include "coll/wait_for_call.hpp"
#include "core/entry.hpp"

#include <utility>

namespace aqueduct {
namespace {

/// Null: the plan has no operation.
coll::PlanRecord* plan_of(void* record) noexcept { return static_cast<coll::PlanRecord*>(record); }

/// Gives a plan back that was not ended. Its team may be gone, and its endpoint too: Job::finish may come before.
void drop_plan(void* record) noexcept {
  coll::PlanRecord* const plan = plan_of(record);
  if (plan == nullptr) return;
  if (plan->bound->engine == nullptr) {
    delete plan->bound;
  } else {
    const core::Entry entry(plan->endpoint);
    if (!plan->endpoint.in_child()) plan->engine.drop(plan->bound);
  }
  delete plan;
}

/// Requires: an Entry, and that the plan is not closed.
inline Event start_plan(coll::PlanRecord& plan) noexcept {
  const coll::OneCaller one(plan.team);
  return coll::Collectives::start(*plan.bound);
}

/// The record is the plan's, so that the short way need not keep two addresses.
[[gnu::noinline]] Event start_slowly(const coll::Plan& bound) noexcept {
  coll::PlanRecord& plan = *bound.record;
  if (plan.closed()) return Event(Status(ErrorCode::closed));
  const core::Entry entry(plan.endpoint);
  if (plan.ended_meanwhile()) return Event(Status(ErrorCode::closed));
  if (const Status status = coll::may_begin(plan.team); !status) return Event(status);
  return start_plan(plan);
}

}  // namespace

CollPlan::CollPlan(CollPlan&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
CollPlan& CollPlan::operator=(CollPlan&& other) noexcept {
  if (this != &other) {
    drop_plan(record_);
    record_ = std::exchange(other.record_, nullptr);
  }
  return *this;
}
CollPlan::~CollPlan() { drop_plan(record_); }

Event CollPlan::start() noexcept {
  coll::PlanRecord* const record = plan_of(record_);
  if (record == nullptr) return Event(Status(ErrorCode::invalid_argument));
  coll::Plan& plan = *record->bound;
  // If the team has ended, the endpoint may be gone too.
  if (plan.obstacles.none() && coll::may_begin_at_once(record->endpoint)) [[likely]] {
    const coll::OneCaller one(record->team);
    if (core::Op* const op = plan.engine->start_at_once(plan, record->endpoint.ops)) [[likely]]
      return Event(op);
  }
  return start_slowly(plan);
}

Status CollPlan::run() noexcept {
  coll::PlanRecord* const plan = plan_of(record_);
  if (plan == nullptr) return ErrorCode::invalid_argument;
  if (plan->closed()) return ErrorCode::closed;
  const core::Entry entry(plan->endpoint);
  if (plan->ended_meanwhile()) return ErrorCode::closed;
  if (const Status status = coll::may_wait(plan->team); !status) return status;
  const coll::OneCaller one(plan->team);
  Event event = start_plan(*plan);
  return coll::wait_for_call(plan->endpoint, event, plan->limit);
}

Status CollPlan::end() noexcept {
  coll::PlanRecord* const plan = plan_of(record_);
  if (plan == nullptr) return ErrorCode::invalid_argument;
  if (plan->closed()) return ErrorCode::closed;  // the destructor gives the plan back
  {
    const core::Entry entry(plan->endpoint);
    if (plan->closed()) return ErrorCode::closed;
    if (const Status status = coll::may_begin(plan->team); !status) return status;
    const coll::OneCaller one(plan->team);
    if (const Status status = plan->engine.end(plan->bound); !status) return status;
  }
  delete plan;
  record_ = nullptr;
  return {};
}

}  // namespace aqueduct
