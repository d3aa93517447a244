// Collective calls: what happens before the engine sees one, and after it.

#include <aqueduct/coll.hpp>
#include <aqueduct/coll_v.hpp>

#include "coll/barriers.hpp"
#include "coll/engine/checked_blocks.hpp"
#include "coll/engine/checked_request.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/start.hpp"
#include "coll/learned_calls.hpp"
#include "coll/may_call.hpp"
#include "coll/one_caller.hpp"
#include "coll/plan_record.hpp"
#include "coll/wait_for_call.hpp"
#include "core/entry.hpp"

#include <new>
#include <string>

namespace aqueduct {

using detail::CollBlocksCall;
using detail::CollCall;
using detail::EndpointState;
using detail::TeamState;

namespace {

coll::Collectives& engine_of(TeamState& team) noexcept { return *team.endpoint.layer<coll::Collectives>(); }

void log_refusal(TeamState& team, const coll::CallDescription& call, const std::string& why) noexcept {
  try {
    team.endpoint.log.error("{} by member {} of {}: {}", coll::text_of(call), team.index, team.size(),
                            why.empty() ? "refused, and there is no memory to say why" : why);
  } catch (const std::bad_alloc&) {
    team.endpoint.log.error("a collective call was refused, and there is no memory to say which");
  }
}

/// This member makes no such call: the other members, which may wait for it, are told.
Status refuse_call(TeamState& team, const coll::CallDescription& call, Status status,
                   const std::string& why) noexcept {
  const auto description = coll::refused_call(call, status.code());
  log_refusal(team, description, why);
  engine_of(team).refuse(team, description, status);
  return status;
}

/// The request for the engine. On failure the other members have been told that this one refuses the call. `about`: 0, or
/// CallDescription::kBinds.
Result<coll::Request> request_of(TeamState& team, const CollCall& call, std::uint8_t about = 0) noexcept {
  std::string why;
  auto request = coll::checked_request(team, call, engine_of(team).user_operators(), why);
  if (!request) {
    const auto asked = coll::call_about_plan(coll::description_of(call, team.size()), about);
    return refuse_call(team, asked, request.status(), why);
  }
  return request;
}

/// The same for a call whose blocks may differ. The record is of the engine's pool.
Result<coll::BlocksCall*> request_of(TeamState& team, const CollBlocksCall& call,
                                     std::uint8_t about = 0) noexcept {
  auto& pool = engine_of(team).blocks_calls();
  coll::BlocksCall* const checked = pool.take();
  std::string why;
  const Status status = checked != nullptr ? coll::check_blocks(team, call, *checked, why)
                                           : Status(ErrorCode::no_memory, team.endpoint.rank);
  if (status) return checked;
  if (checked != nullptr) pool.give_back(*checked);
  const auto asked = coll::call_about_plan(coll::description_of(call, team.size()), about);
  return refuse_call(team, asked, status, why);
}

/// Whether the other members know why the engine has not bound a call, or will learn it without being told.
bool all_learn_of(TeamState& team, Status status) noexcept {
  coll::TeamEngine* const engine = coll::Collectives::engine_of(team);
  if (engine != nullptr && !engine->broken().ok()) return true;
  return status.code() == ErrorCode::closed || status.code() == ErrorCode::mismatch ||
         status.code() == ErrorCode::peer_lost;
}

/// Before a call: ends the doubt whether all members have refused the last one. A blocking call waits for the others.
void end_doubt(TeamState& team, coll::TeamEngine& engine, bool blocking,
               std::chrono::nanoseconds limit) noexcept {
  if (blocking)
    coll::wait_while_in_doubt(team, limit);
  else
    engine.end_doubt();
}

/// Begins a call that is unlike the last ones of the team, so that its arguments have to be checked.
[[gnu::noinline]] Event begin_unknown(TeamState& team, coll::TeamEngine& engine, const CollCall& call,
                                      bool blocking) noexcept {
  if (engine.in_doubt()) [[unlikely]]
    end_doubt(team, engine, blocking, call.options.limit);
  const auto request = request_of(team, call);
  if (!request) return Event(request.status());
  if (blocking && engine.learning() != nullptr && !call.options.no_trials)
    return coll::run_and_learn(team, engine, *request, call);
  return engine.begin(*request, call, blocking);
}

Event begin_call(TeamState& team, const CollBlocksCall& call, bool blocking) noexcept {
  const coll::OneCaller one(team);
  coll::TeamEngine* const engine = coll::Collectives::engine_of(team);
  if (engine == nullptr) return Event(Status(ErrorCode::closed));
  if (engine->in_doubt()) [[unlikely]]
    end_doubt(team, *engine, blocking, call.options.limit);
  const auto checked = request_of(team, call);
  return checked ? engine->begin(**checked, blocking) : Event(checked.status());
}

Event begin_call(TeamState& team, const CollCall& call, bool blocking) noexcept {
  const coll::OneCaller one(team);
  coll::TeamEngine* const engine = coll::Collectives::engine_of(team);
  if (engine == nullptr) return Event(Status(ErrorCode::closed));
  coll::CallMemory memory;
  coll::KnownCall* const known = engine->find(call, memory);
  return known != nullptr ? engine->begin(*known, memory, blocking)
                          : begin_unknown(team, *engine, call, blocking);
}

/// Turns on the board end by themselves, after far less than this: a limit that is longer need not be looked at meanwhile.
constexpr std::chrono::seconds kLongLimit{1};

/// The rest of a blocking call that has begun on the board.
[[gnu::noinline]] Status wait_on_board(TeamState& state, coll::TeamEngine& engine, coll::KnownCall& known,
                                       coll::CallMemory memory, std::chrono::nanoseconds limit) noexcept {
  if (limit >= kLongLimit && engine.take_turns()) return {};
  Event event = engine.follow_board_call(known, memory);
  return coll::wait_for_call(state.endpoint, event, limit);
}

template <class Call>
Status run_call(TeamState& state, const Call& call) noexcept {
  if (coll::barrier_of(state) == nullptr) return ErrorCode::closed;  // its endpoint may be gone
  const core::Entry entry(state.endpoint);
  if (const Status status = coll::may_wait(state); !status) return status;
  const coll::OneCaller one(state);
  Event event = begin_call(state, call, true);
  return coll::wait_for_call(state.endpoint, event, call.options.limit);
}

template <class Call>
[[gnu::noinline]] Event begin_without_waiting(TeamState& state, const Call& call) noexcept {
  if (coll::barrier_of(state) == nullptr) return Event(Status(ErrorCode::closed));
  const core::Entry entry(state.endpoint);
  if (const Status status = coll::may_begin(state); !status) return Event(status);
  return begin_call(state, call, false);
}

Result<void*> bound_by(coll::Collectives& engine, TeamState& team, const coll::Request& request) noexcept {
  return engine.bind(team, request);
}
Result<void*> bound_by(coll::Collectives& engine, TeamState& team, coll::BlocksCall* checked) noexcept {
  return engine.bind(team, *checked);
}
const coll::CallDescription& description_in(const coll::Request& request) noexcept {
  return request.description;
}
const coll::CallDescription& description_in(const coll::BlocksCall* checked) noexcept {
  return checked->request.description;
}
/// Gives up what request_of has made.
void drop_request(coll::Collectives&, const coll::Request&) noexcept {}
void drop_request(coll::Collectives& engine, coll::BlocksCall* checked) noexcept {
  engine.blocks_calls().give_back(*checked);
}

template <class Call>
Result<CollPlan> bind_call(TeamState& state, const Call& call) noexcept {
  if (coll::barrier_of(state) == nullptr) return ErrorCode::closed;
  const core::Entry entry(state.endpoint);
  if (const Status status = coll::may_begin(state); !status) return status;
  const coll::OneCaller one(state);
  coll::Collectives& engine = engine_of(state);
  if (coll::TeamEngine* const of_team = coll::Collectives::engine_of(state)) of_team->end_doubt();
  constexpr auto kBinds = coll::CallDescription::kBinds;
  const auto request = request_of(state, call, kBinds);
  if (!request) return request.status();
  const auto bind = coll::call_about_plan(description_in(*request), kBinds);
  auto* const record = new (std::nothrow) coll::PlanRecord{state.endpoint, state, engine, call.options.limit};
  if (record == nullptr) {
    drop_request(engine, *request);
    return refuse_call(state, bind, {ErrorCode::no_memory, state.endpoint.rank}, "no memory for a plan");
  }
  const auto plan = bound_by(engine, state, *request);
  if (!plan) {
    delete record;
    if (all_learn_of(state, plan.status())) return plan.status();
    if (plan.status().code() != ErrorCode::invalid_argument)
      return refuse_call(state, bind, plan.status(), "the plan cannot be bound");
    // The choice of the algorithm has logged why.
    engine.refuse(state, coll::refused_call(bind, plan.status().code()), plan.status());
    return plan.status();
  }
  record->bound = static_cast<coll::Plan*>(*plan);
  record->bound->record = record;
  return CollPlan(record);
}

}  // namespace

Status detail::coll_run(Team& team, const CollCall& call) noexcept {
  TeamState& state = team.state();
  // It has none if the team has ended, and perhaps its endpoint too.
  coll::TeamEngine* const engine = coll::Collectives::engine_of(state);
  if (engine != nullptr && coll::may_wait_at_once(state.endpoint)) [[likely]] {
    const coll::OneCaller one(state);
    coll::CallMemory memory;
    coll::KnownCall* const known = engine->find(call, memory);
    if (known != nullptr && engine->may_call_on_board(*known)) [[likely]]
      return engine->call_on_board_at_once(*known, memory)
                 ? Status()
                 : wait_on_board(state, *engine, *known, memory, call.options.limit);
  }
  return run_call(state, call);
}
Event detail::coll_begin(Team& team, const CollCall& call) noexcept {
  TeamState& state = team.state();
  // It has none if the team has ended, and perhaps its endpoint too.
  coll::TeamEngine* const engine = coll::Collectives::engine_of(state);
  if (engine != nullptr && coll::may_begin_at_once(state.endpoint)) [[likely]] {
    const coll::OneCaller one(state);
    coll::CallMemory memory;
    coll::KnownCall* const known = engine->find(call, memory);
    core::Op* const op = known != nullptr ? engine->begin_at_once(*known, memory) : nullptr;
    if (op != nullptr) [[likely]]
      return Event(op);
  }
  return begin_without_waiting(state, call);
}
Result<CollPlan> detail::coll_bind(Team& team, const CollCall& call) noexcept {
  return bind_call(team.state(), call);
}
Status detail::coll_run(Team& team, const CollBlocksCall& call) noexcept {
  return run_call(team.state(), call);
}
Event detail::coll_begin(Team& team, const CollBlocksCall& call) noexcept {
  return begin_without_waiting(team.state(), call);
}
Result<CollPlan> detail::coll_bind(Team& team, const CollBlocksCall& call) noexcept {
  return bind_call(team.state(), call);
}

Status add_operator(Endpoint& ep, std::uint32_t number, const UserOperator& with) noexcept {
  EndpointState& state = ep.state();
  const core::Entry entry(state);
  if (state.in_child()) return ErrorCode::invalid_argument;
  return state.layer<coll::Collectives>()->user_operators().add(number, with);
}

}  // namespace aqueduct
