// Barriers that the engine carries out.

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace aqueduct::coll {

namespace {

/// `votes`: bits of a core::BarrierVote, those of all members. Votes that differ are no failure of the engine's operation, only of
/// the barrier.
ErrorCode outcome_of(std::uint64_t votes) noexcept {
  return core::BarrierVote::from_bits(votes).is_mismatch() ? ErrorCode::mismatch : ErrorCode::ok;
}

}  // namespace

Status Barriers::fly(TeamEngine& engine, BarrierState& barrier, core::BarrierVote vote, core::Op* op) noexcept
    try {
  if (barrier.flights == nullptr) {
    barrier.flights = std::make_unique<BarrierFlights>();
    barrier.flights->split_op->payload<BarrierFlight>() = {};  // votes_of_last may come first
  }
  const bool split = op == nullptr;
  if (split) {
    op = barrier.flights->split_op.get();
  }
  BarrierFlight& flight = op->payload<BarrierFlight>();
  flight = {&barrier, vote.bits()};
  take_off(barrier, *op);  // before it begins, since it may end at once
  const Status status = engine.begin_barrier(*op, flight.vote);
  if (status) [[likely]]
    return {};
  op->ended = nullptr;
  land(barrier, *op);
  // With a rank it is why the team is of no use.
  const bool nothing_has_begun = status.code() == ErrorCode::refused ||
                                 (status.code() == ErrorCode::no_memory && status.peer() == kNoRank);
  if (split) barrier.split_outcome = status;
  if (!split || nothing_has_begun) return status;
  barrier.split_over = true;
  return {};
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

/// The operation is in flight from here on.
void Barriers::take_off(BarrierState& barrier, core::Op& op) noexcept {
  auto& [ops, split_op] = *barrier.flights;
  op.ended = flight_ended;
  op.layer = this;
  *std::find(ops.begin(), ops.end(), nullptr) = &op;
  ++barrier.flying;
  if (&op != split_op.get()) return;
  op.parts = 1;
  op.outcome = {};
  barrier.split_flies = true;
}

/// The operation is no longer in flight.
void Barriers::land(BarrierState& barrier, const core::Op& op) noexcept {
  auto& [ops, split_op] = *barrier.flights;
  *std::find(ops.begin(), ops.end(), &op) = nullptr;
  --barrier.flying;
  if (&op == split_op.get()) barrier.split_flies = false;
}

core::BarrierVote Barriers::votes_of_last(const BarrierState& barrier) noexcept {
  const bool by_engine = barrier.native == nullptr && barrier.flights != nullptr;
  if (!by_engine) return barrier.vote;
  return core::BarrierVote::from_bits(barrier.flights->split_op->payload<BarrierFlight>().vote);
}

// With an earlier barrier still under way it goes another way.
bool Barriers::may_call_at_once(const BarrierState& barrier) noexcept {
  if (barrier.flights == nullptr || barrier.waiting) return false;
  const TeamEngine* const engine = Collectives::engine_of(*barrier.team);
  return !barrier.split_flies && barrier.has_room() && engine != nullptr && engine->may_call_barrier();
}

bool Barriers::call_at_once(BarrierState& barrier, core::BarrierVote vote) noexcept {
  TeamEngine& engine = *Collectives::engine_of(*barrier.team);
  core::Op& op = *barrier.flights->split_op;
  BarrierFlight& flight = op.payload<BarrierFlight>();
  flight = {&barrier, vote.bits()};
  if (!engine.call_barrier_at_once(flight.vote) && !take_turns(engine, barrier)) {
    if (follow(engine, barrier, op)) return false;
    if (!barrier.split_outcome) return true;
  }
  barrier.split_outcome = outcome_of(flight.vote);
  return true;
}

/// A continuation may run meanwhile: for it, this barrier is under way.
bool Barriers::take_turns(TeamEngine& engine, BarrierState& barrier) noexcept {
  const bool over = std::exchange(barrier.split_over, false);
  barrier.waiting = true;
  const bool ended = engine.take_turns();
  barrier.waiting = false;
  barrier.split_over = over;
  return ended;
}

/// It has not ended after a short time. False: it has ended now, with `split_outcome`.
bool Barriers::follow(TeamEngine& engine, BarrierState& barrier, core::Op& op) noexcept {
  take_off(barrier, op);
  barrier.waiting = barrier.split_by_engine = true;
  barrier.split_over = false;
  if (engine.follow_barrier(op, op.payload<BarrierFlight>().vote, barrier.split_outcome)) return true;
  op.ended = nullptr;
  land(barrier, op);
  barrier.waiting = false;
  return false;
}

/// Nobody waits for the barrier of `notify` any more.
void Barriers::let_go(BarrierState& barrier) noexcept {
  core::Op& op = *barrier.flights->split_op;
  op.payload<BarrierFlight>().barrier = nullptr;
  land(barrier, op);
  gone_.push_back(std::move(barrier.flights->split_op));  // room was reserved in `enter`
}

bool Barriers::flight_ended(core::Layer& layer, core::Op& op) noexcept {
  const BarrierFlight flight = op.payload<BarrierFlight>();
  if (op.outcome) op.outcome = outcome_of(flight.vote);
  const bool split = !op.is_explicit;
  if (flight.barrier != nullptr) {
    land(*flight.barrier, op);
    if (!split) return true;
    flight.barrier->split_over = true;
    flight.barrier->split_outcome = op.outcome;
    return false;  // it is not one of the endpoint's, and begins again with the next `notify`
  }
  if (!split) return true;
  std::erase_if(static_cast<Barriers&>(layer).gone_, [&](const auto& one) { return one.get() == &op; });
  return false;
}

}  // namespace aqueduct::coll
