#include "coll/barriers.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

namespace aqueduct::coll {

using aqueduct::detail::TeamSlot;

namespace {

// No team has more rounds than this: arrivals with a larger round are rejected.
constexpr std::uint64_t kMostRounds = 32;
// The most teams without a Team object on this rank for which arrivals are remembered: teams that a peer has made
// earlier than this rank (one for each peer), and teams that this rank has ended. Chosen: at most 30 MiB, as a bound
// against a peer that invents teams.
constexpr std::uint64_t kMostStrange = 65536;

}  // namespace

Barriers::Barriers(EndpointState& state) : state_(state), exchanges_(state), busy_(state.busy) {
  state.messages->add_internal(kArrive, AmCategory::short_request, sizeof(Arrival),
                               {[](void*, Incoming& in, const std::byte* args, core::MutableBytes) {
                                  Arrival arrival;
                                  std::memcpy(&arrival, args, sizeof arrival);
                                  in.state.barriers->arrived(arrival);
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
  std::vector<std::uint64_t> heard(kMostRounds);  // allocated first: a failure must change nothing
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

void Barriers::leave(TeamState& team) noexcept {
  BarrierState* const barrier = barrier_of(team);
  if (barrier == nullptr) return;
  if (barrier->queued) busy_.set(--queued_ != 0);
  barriers_.erase(team.id);
  team.slot(TeamSlot::barrier) = nullptr;
}

void Barriers::notify(BarrierState& barrier) noexcept {
  ++barrier.phase;
  barrier.waiting = true;
  // The phase may be reached all the same: members may have sent their arrivals before the loss ended their barriers.
  // The loss is remembered, so that this rank's wait fails in either case.
  barrier.too_late = barrier.team->lost_member() != kNoRank;
  if (barrier.native) {
    // A rank that knows of a lost member does not arrive again. A conduit that only counts arrivals would take its next
    // one for the lost member's, and the phase would be reached for ranks that do not know of the loss yet.
    if (!barrier.too_late) [[likely]]
      barrier.native->notify(barrier.phase);
    return;
  }
  barrier.round = 0;
  barrier.to_send = 0;
  step(barrier);
}

bool Barriers::reached(BarrierState& barrier) noexcept {
  if (barrier.native) return barrier.native->reached(barrier.phase);
  return barrier.round == barrier.rounds;
}

std::string Barriers::missing(const BarrierState& barrier) const {
  const TeamState& team = *barrier.team;
  std::vector<Rank> ranks;
  if (barrier.native) {
    ranks = barrier.native->missing(barrier.phase);
  } else if (barrier.round < barrier.rounds) {
    const std::uint64_t distance = std::uint64_t{1} << barrier.round;
    ranks = {team.members[(team.index + team.size() - distance % team.size()) % team.size()]};
  }
  std::string text;
  constexpr std::size_t kMost = 8;
  for (std::size_t i = 0; i < std::min(ranks.size(), kMost); ++i) {
    text += fmt::format("{}{}", i == 0 ? "rank " : ", ", ranks[i]);
  }
  if (ranks.size() > kMost) text += fmt::format(" and {} more", ranks.size() - kMost);
  return text.empty() ? "news of its end" : text;
}

// Runs inside a handler, so it must not throw.
void Barriers::arrived(const Arrival& arrival) noexcept {
  BarrierState* const barrier = arrival.round < kMostRounds ? heard_of(arrival.team) : nullptr;
  if (barrier == nullptr) {
    ++state_.statistics.rejected;
    return;
  }
  auto& heard = barrier->heard[arrival.round];
  heard = std::max(heard, arrival.phase);
  if (barrier->team != nullptr && barrier->waiting) step(*barrier);
}

// The barrier of a team. If this rank has not made the team yet,
// the arrivals are remembered. Null: there is no room for that.
BarrierState* Barriers::heard_of(std::uint64_t team) noexcept try {
  if (const auto known = barriers_.find(team); known != barriers_.end()) return &known->second;
  if (strange_ == kMostStrange) return nullptr;
  std::vector<std::uint64_t> heard(kMostRounds);
  BarrierState& barrier = barriers_[team];
  barrier.heard = std::move(heard);
  ++strange_;
  return &barrier;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// Sends the arrivals that are due. The arrival of round k is due once this rank has received that of round k - 1. Does
// not wait: `advance` sends an arrival that finds no room.
void Barriers::step(BarrierState& barrier) noexcept {
  const TeamState& team = *barrier.team;
  for (;;) {
    while (barrier.to_send <= barrier.round && barrier.to_send < barrier.rounds) {
      const Rank to = team.members[(team.index + (std::uint64_t{1} << barrier.to_send)) % team.size()];
      const Arrival arrival{team.id, barrier.phase, barrier.to_send};
      const auto post = state_.messages->try_request(to, AmCategory::short_request, kArrive,
                                                     {&arrival, sizeof arrival, 0}, nullptr, {}, 0);
      if (post.kind == core::Post::Kind::retry) {
        if (!barrier.queued) {
          barrier.queued = true;
          ++queued_;
          busy_.set(true);
        }
        return;
      }
      ++barrier.to_send;
    }
    if (barrier.round >= barrier.rounds || barrier.heard[barrier.round] < barrier.phase) return;
    ++barrier.round;
  }
}

void Barriers::advance() noexcept {
  for (auto& [id, barrier] : barriers_) {
    if (!barrier.queued) continue;
    barrier.queued = false;
    --queued_;
    step(barrier);
  }
  busy_.set(queued_ != 0);
}

}  // namespace aqueduct::coll
