// Barriers that the engine carries out.

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace aqueduct::coll {

Status Barriers::fly(TeamEngine& engine, BarrierState& barrier, core::BarrierVote vote, core::Op* op) noexcept
    try {
  if (barrier.flights == nullptr) barrier.flights = std::make_unique<BarrierFlights>();
  auto& [ops, split_op] = *barrier.flights;
  const bool split = op == nullptr;
  if (split) {
    op = split_op.get();
    op->parts = 1;
    op->outcome = {};
  }
  BarrierFlight& flight = op->payload<BarrierFlight>();
  flight = {&barrier, vote.bits()};
  op->ended = flight_ended;
  op->layer = this;
  // Before it begins, since it may end at once.
  *std::find(ops.begin(), ops.end(), nullptr) = op;
  ++barrier.flying;
  barrier.split_flies = barrier.split_flies || split;
  const Status status = engine.begin_barrier(*op, flight.vote);
  if (status) [[likely]]
    return {};
  op->ended = nullptr;
  land(barrier, *op);
  // With a rank it is why the team is of no use.
  const bool nothing_has_begun = status.code() == ErrorCode::refused ||
                                 (status.code() == ErrorCode::no_memory && status.peer() == kNoRank);
  if (!split || nothing_has_begun) return status;
  barrier.split_over = true;
  barrier.split_outcome = status;
  return {};
} catch (const std::bad_alloc&) {
  return ErrorCode::no_memory;
}

/// The operation is no longer in flight.
void Barriers::land(BarrierState& barrier, const core::Op& op) noexcept {
  auto& [ops, split_op] = *barrier.flights;
  *std::find(ops.begin(), ops.end(), &op) = nullptr;
  --barrier.flying;
  if (&op == split_op.get()) barrier.split_flies = false;
}

/// Nobody waits for the barrier of `notify` any more.
void Barriers::let_go(BarrierState& barrier) noexcept {
  core::Op& op = *barrier.flights->split_op;
  op.payload<BarrierFlight>().barrier = nullptr;
  land(barrier, op);
  gone_.push_back(std::move(barrier.flights->split_op));  // room was reserved in `enter`
}

// Votes that differ are no failure of the engine's operation, only of this one.
bool Barriers::flight_ended(core::Layer& layer, core::Op& op) noexcept {
  const BarrierFlight flight = op.payload<BarrierFlight>();
  if (op.outcome && core::BarrierVote::from_bits(flight.vote).is_mismatch()) op.outcome = ErrorCode::mismatch;
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
