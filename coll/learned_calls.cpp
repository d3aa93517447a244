#include "coll/learned_calls.hpp"

#include "coll/engine/checked_request.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/wait_for_call.hpp"

#include <chrono>
#include <memory>
#include <new>
#include <string>

namespace aqueduct::coll {

namespace {

/// The all-reduce by which the members combine their words.
CollCall call_to_combine(Bandit::Words& words) noexcept {
  CollCall call;
  call.operation = Collective::all_reduce;
  call.type = ElementType::u64;
  call.element = sizeof(std::uint64_t);
  call.out.where = aqueduct::detail::CollBuffer::Where::mine;
  call.out.memory = words.data();
  call.out.bytes = sizeof words;
  call.reducer = ReduceOp::max;
  return call;
}

std::uint64_t nanoseconds_since(TeamState& team, core::Clock::time_point before) noexcept {
  return static_cast<std::uint64_t>((team.endpoint.clock.now() - before) / std::chrono::nanoseconds(1));
}

/// Begins it. The members do not wait for it before 13 further calls of the key.
void begin_to_combine(TeamState& team, TeamEngine& engine, Learning::Key& key) {
  key.words = std::make_shared<Bandit::Words>(key.bandit.words(key.cost));
  const auto before = team.endpoint.clock.now();
  const CollCall call = call_to_combine(*key.words);
  std::string why;
  const auto request = checked_request(team, call, team.endpoint.layer<Collectives>()->user_operators(), why);
  const auto is_refused = [&] {
    return key.combining.done() && key.combining.status().code() == ErrorCode::refused;
  };
  if (request) key.combining = engine.begin(*request, call, /*blocking=*/false);
  if (request && is_refused()) {
    // The program holds all operations. A blocking call has one of its own; all members begin theirs before the same call.
    key.combining = engine.begin(*request, call, /*blocking=*/true);
    if (!is_refused())
      static_cast<void>(wait_for_call(team.endpoint, key.combining, std::chrono::nanoseconds::max()));
  }
  // Only a member without memory comes here. The others would wait for its part.
  if (!request || (key.combining.done() && !key.combining.status().ok() && engine.broken().ok()))
    throw std::bad_alloc();
  key.cost = nanoseconds_since(team, before);
}

/// False: the team is broken, as the call will find.
bool go_on_by_what_was_combined(TeamState& team, TeamEngine& engine, Learning::Key& key) {
  const auto before = team.endpoint.clock.now();
  if (!wait_for_call(team.endpoint, key.combining, std::chrono::nanoseconds::max())) return false;
  key.cost += nanoseconds_since(team, before);
  if (key.bandit.go_on(*key.words)) engine.have_learned(key);
  return true;
}

}  // namespace

// What is due is done before a call, so that it has the same place in the order of the team's calls on all members.
Event run_and_learn(TeamState& team, TeamEngine& engine, const Request& request,
                    const CollCall& call) noexcept try {
  Learning::Key* const key = engine.broken().ok() ? engine.key_to_learn(request) : nullptr;
  if (key == nullptr) return engine.begin(request, call, /*blocking=*/true);
  switch (key->bandit.due()) {
    case Bandit::Due::nothing: break;
    case Bandit::Due::combine: begin_to_combine(team, engine, *key); break;
    case Bandit::Due::go_on:
      if (!go_on_by_what_was_combined(team, engine, *key))
        return engine.begin(request, call, /*blocking=*/true);
  }
  const std::size_t candidate = key->bandit.next();
  const auto before = team.endpoint.clock.now();
  using CarriedOutBy = TeamEngine::CarriedOutBy;
  auto by = CarriedOutBy::nothing;
  Event event = engine.begin_as(request, call, *key, candidate, by);
  const Status status = wait_for_call(team.endpoint, event, call.options.limit);
  if (status.code() == ErrorCode::refused) {
    key->bandit.take_back();  // nothing has happened: the program makes the call again
  } else if (by == CarriedOutBy::another && status.code() != ErrorCode::no_memory) {
    // Another algorithm has carried it out, so its time is not counted. If the best candidate cannot do a call, no member counts it. (If all
    // members lack memory, perhaps in different places, the team goes on: then all of them count the call.)
    if (candidate == key->bandit.best()) key->bandit.take_back();
  } else if (status) {
    key->bandit.took(candidate, nanoseconds_since(team, before));
  }
  return Event(status);
} catch (const std::bad_alloc&) {
  engine.give_up_calls(ErrorCode::no_memory);
  return Event(Status(ErrorCode::no_memory));
}

}  // namespace aqueduct::coll
