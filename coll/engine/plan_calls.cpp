// Calls about plans. They take their turn in the order of the team's calls, because places for plans depend on it.

#include "coll/engine/collectives.hpp"
#include "coll/engine/team_engine.hpp"

#include <new>

namespace aqueduct::coll {

Result<Plan*> TeamEngine::bind(const Request& request) noexcept {
  if (!broken_.ok()) return broken_;
  Plan* const plan = new (std::nothrow) Plan;
  if (plan == nullptr) return ErrorCode::no_memory;
  plan->request = request;
  if (ranks_ > 1) {
    if (!scratch_) log_no_scratch(request);
    Status status = scratch_ ? Status{} : Status(ErrorCode::no_memory);
    CallRecord* turn = nullptr;
    if (status) {
      const auto method = method_of(request);
      status = method.status();
      if (method) ++(plan->method = *method)->uses;
    }
    if (status && (turn = layer_.operations().take()) == nullptr) status = ErrorCode::no_memory;
    if (!status) {
      if (plan->method != nullptr) give_up(*plan->method);
      delete plan;
      return status;
    }
    // Only an operation of one run has a place of its own: its turn to take one comes in the order of the calls.
    if (plan->method->piece >= plan->method->shape.bytes) {
      turn->kind = CallRecord::Kind::bind;
      turn->method = nullptr;
      turn->op = nullptr;
      turn->plan = plan;
      turn->number = calls_ + 1;
      enqueue(*turn);
      pump();
    } else {
      layer_.operations().give_back(*turn);
    }
  }
  plan->engine = this;
  plan->next = plans_;
  plans_ = plan;
  return plan;
}

TeamEngine::Begun TeamEngine::start(Plan& plan) noexcept {
  if (!broken_.ok()) return {broken_, Event(broken_)};
  if (plan.running != 0) {
    // Told to the others: if their last start is over, they count this one, and would take the next one here for it.
    refuse(refused_call(plan.request.description, ErrorCode::invalid_argument));
    return {ErrorCode::invalid_argument, Event(Status(ErrorCode::invalid_argument))};
  }
  return plan.method == nullptr ? start_without_method(plan) : begin_with(plan.request, *plan.method, &plan);
}

Status TeamEngine::end(Plan& plan) noexcept {
  if (plan.running != 0) return ErrorCode::invalid_argument;
  const bool in_turn = ranks_ > 1 && broken_.ok();
  CallRecord* const turn = in_turn ? layer_.operations().take() : nullptr;
  if (in_turn && turn == nullptr) return ErrorCode::no_memory;
  if (turn != nullptr) {
    turn->kind = CallRecord::Kind::end;
    turn->method = nullptr;
    turn->op = nullptr;
    turn->plan = &plan;
    turn->number = calls_ + 1;
    enqueue(*turn);
  }
  plan.dropped = true;
  if (turn != nullptr) {
    pump();
  } else {
    release(plan);
  }
  return {};
}

void TeamEngine::drop(Plan& plan) noexcept {
  plan.dropped = true;
  if (!plan.lease) release(plan);
}

/// Frees a plan that the program has given up, once nothing names it. One that holds a place stays until the team ends.
void TeamEngine::release(Plan& plan) noexcept {
  if (!plan.dropped || plan.held != 0 || plan.lease) return;
  for (Plan** at = &plans_; *at != nullptr; at = &(*at)->next) {
    if (*at != &plan) continue;
    *at = plan.next;
    if (plan.method != nullptr) give_up(*plan.method);
    if (plan.blocks != nullptr) layer_.blocks_calls().give_back(*plan.blocks);
    delete &plan;
    return;
  }
}

}  // namespace aqueduct::coll
