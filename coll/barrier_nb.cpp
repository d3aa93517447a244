// Barriers that are begun with one call, and end with an Event.

#include <aqueduct/team.hpp>

#include "coll/barriers.hpp"
#include "core/entry.hpp"
#include "core/op.hpp"

namespace aqueduct {
namespace {

constexpr core::OpKind kBarrier{"a barrier"};

Event begin_barrier(detail::TeamState& team, core::BarrierVote vote) noexcept {
  coll::BarrierState* const barrier = coll::barrier_of(team);
  if (barrier == nullptr) return Event(Status(ErrorCode::closed));
  detail::EndpointState& state = team.endpoint;
  const core::Entry entry(state);
  if (state.in_child()) return Event(Status(ErrorCode::invalid_argument));
  if (state.polling) return Event(Status(ErrorCode::in_handler));
  core::Op* const op = barrier->has_room() ? state.ops.acquire(kBarrier, kNoRank, true) : nullptr;
  if (op == nullptr) return Event(Status(ErrorCode::refused));
  if (const Status status = state.barriers->ask(*barrier, vote, op); !status) {
    state.ops.take_back(*op);
    return Event(status);
  }
  return Event(op);
}

}  // namespace

Event Team::barrier_nb() noexcept { return begin_barrier(*state_, {}); }
Event Team::barrier_nb(std::uint32_t value) noexcept {
  return begin_barrier(*state_, core::BarrierVote(value));
}

}  // namespace aqueduct
