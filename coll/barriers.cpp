#include "coll/barriers.hpp"

#include "coll/engine/collectives.hpp"
#include "core/wait.hpp"

#include <bit>
#include <cstring>
#include <new>
#include <utility>

namespace aqueduct::coll {

using aqueduct::detail::TeamSlot;

Barriers::Barriers(EndpointState& state)
    : state_(state),
      exchanges_(state),
      farewells_(state),
      loss_news_(state),
      absences_(state),
      most_rounds_(static_cast<std::uint32_t>(std::bit_width(state.ranks - 1))),
      forgotten_(state.ranks),
      busy_(state.busy) {
  finish_.rounds = most_rounds_;
  finish_.heard.resize(2 * most_rounds_);
  state.messages->add_internal(kArrive, AmCategory::short_request, sizeof(Arrival),
                               {[](void*, Incoming& in, const std::byte* args, core::MutableBytes) {
                                  Arrival arrival;
                                  std::memcpy(&arrival, args, sizeof arrival);
                                  in.state.barriers->arrived(in.source, arrival);
                                },
                                nullptr});
}

// A Team may outlive its job. Its slot is cleared here, so that it finds no barrier and uses nothing of the endpoint.
Barriers::~Barriers() {
  for (auto& [id, barrier] : barriers_) {
    if (barrier.team != nullptr) barrier.team->slot(TeamSlot::barrier) = nullptr;
  }
}

void Barriers::enter(TeamState& team) {
  // Allocated first: a failure must change nothing.
  std::vector<HeardArrival> heard(2 * most_rounds_);
  gone_.reserve(gone_.size() + barriers_.size() + 1);
  const auto [at, is_new] = barriers_.try_emplace(team.id);
  BarrierState& barrier = at->second;
  if (is_new) {
    barrier.heard = std::move(heard);
    ++strange_;
  }
  // If one conduit serves all members, it may have a barrier of its own.
  core::Conduit* const conduit = &state_.conduit(team.members[0]);
  bool one_conduit = true;
  for (Rank i = 1; one_conduit && i < team.size(); ++i)
    one_conduit = &state_.conduit(team.members[i]) == conduit;
  core::NativeCollectives* const native = one_conduit ? conduit->collectives() : nullptr;
  if (native != nullptr && team.size() > 1) {
    const auto members = team.list();
    if (members.empty()) throw std::bad_alloc();
    barrier.native = native->make_barrier(members);
  }
  // Allocation may have failed above. From here on nothing fails, so team and barrier are linked only now.
  barrier.rounds = static_cast<std::uint32_t>(std::bit_width(team.size() - 1));
  barrier.team = &team;
  --strange_;
  team.slot(TeamSlot::barrier) = &barrier;
}

bool Barriers::has_native(TeamState& made) noexcept { return barrier_of(made)->native != nullptr; }

void Barriers::choose_native(TeamState& made, bool all_have_it) noexcept {
  BarrierState& barrier = *barrier_of(made);
  if (!barrier.native || all_have_it) return;
  barrier.native->give_back();  // nobody has used it
  barrier.native.reset();
}

void Barriers::leave(TeamState& team, bool together) noexcept {
  BarrierState* const barrier = barrier_of(team);
  if (barrier == nullptr) return;
  for (std::uint64_t phase = barrier->phase + (barrier->under_way ? 0 : 1); phase <= barrier->asked;
       ++phase) {
    BarrierPhase& one = barrier->phases[phase % barrier->phases.size()];
    if (one.op != nullptr) state_.ops.part_ended(*one.op, ErrorCode::closed);
  }
  if (barrier->flights != nullptr) {
    for (core::Op* const op : barrier->flights->ops) {
      if (op != nullptr) op->payload<BarrierFlight>().barrier = nullptr;
    }
  }
  if (barrier->split_flies) let_go(*barrier);
  if (barrier->queued) --queued_;
  if (finish_.team == &team) {
    if (finish_.queued) --queued_;
    finish_.queued = finish_.under_way = false;
    finish_.team = nullptr;
  }
  if (barrier->native && barrier->ops != 0) --polled_;
  set_busy();
  if (barrier->native && together) barrier->native->give_back();
  // In a forked child nothing may touch the network, so not even what the conduit has for the team ends.
  if (state_.in_child()) static_cast<void>(barrier->native.release());
  if (team.name != 0) together ? names_.forget(team.name) : names_.close(team.name);
  exchanges_.leave(team.id);
  barriers_.erase(team.id);
  team.slot(TeamSlot::barrier) = nullptr;
}

Status Barriers::agree_to_end(TeamState& team, bool well) noexcept {
  BarrierState& barrier = *barrier_of(team);
  // By messages, also if the conduit has a barrier, or the engine. The conduit's may be given back after this phase, when
  // all members have read the results of its own phases; they would not all have read this one. The engine's memory goes
  // to other teams then, and a team that is broken ends too.
  std::unique_ptr<core::NativeBarrier> native = std::move(barrier.native);
  barrier.leaving = true;
  barrier.waiting = true;
  barrier.split_over = false;
  ask_for_phase(barrier, core::BarrierVote(well ? 1 : 0), nullptr);
  const Status status = core::wait_until(
      state_, [&] { return split_over(barrier); }, kNoRank,
      [&] {
        return fmt::format("the members of a team of {} ranks (member {}) to end it, above all {}",
                           team.size(), team.index, missing(barrier));
      });
  barrier.waiting = false;
  barrier.native = std::move(native);
  return status ? barrier.split_outcome : status;
}

// Only operations end here. The phase of a `notify` may still be reached until the program waits for it.
void Barriers::peer_lost(Rank peer) noexcept {
  if (state_.lost_by_conduit && !farewells_.has_left(peer)) loss_news_.add(peer);
  for (auto& [id, barrier] : barriers_) {
    if (barrier.team != nullptr && barrier.team->find(peer) != kNoRank) end_operations(barrier);
  }
}

void Barriers::end_operations(BarrierState& barrier) noexcept {
  if (barrier.ops != 0) give_up(barrier);
}

}  // namespace aqueduct::coll
