// The phases of a conduit's own barrier, and of messages: one is under way at a time.

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace aqueduct::coll {

namespace {

/// The calls that this rank has made of a team, in 31 bits.
std::uint32_t calls_of(TeamState& team) noexcept {
  const TeamEngine* const engine = Collectives::engine_of(team);
  return engine != nullptr ? static_cast<std::uint32_t>(engine->calls() & 0x7fff'ffff) : 0;
}

}  // namespace

Status Barriers::ask(BarrierState& barrier, core::BarrierVote vote, core::Op* op) noexcept {
  TeamEngine* const engine = barrier.native ? nullptr : Collectives::engine_of(*barrier.team);
  const bool flies = engine != nullptr && engine->has_barriers();
  if (op == nullptr) barrier.split_by_engine = flies;
  if (flies) return fly(*engine, barrier, vote, op);
  ask_for_phase(barrier, vote, op);
  return {};
}

/// Asks for the next phase, of the conduit's barrier or of messages.
void Barriers::ask_for_phase(BarrierState& barrier, core::BarrierVote vote, core::Op* op) noexcept {
  barrier.phases[++barrier.asked % barrier.phases.size()] = {vote, op};
  if (op != nullptr && barrier.ops++ == 0 && barrier.native) {
    ++polled_;
    set_busy();
  }
  if (barrier.under_way) {
    // The phase in front may never be reached, and nobody may wait for that one.
    if (op != nullptr && barrier.team->lost_member() != kNoRank) give_up(barrier);
    return;
  }
  begin_next(barrier);
  settle(barrier);
}

void Barriers::begin_next(BarrierState& barrier) noexcept {
  ++barrier.phase;
  barrier.under_way = true;
  barrier.vote = barrier.phases[barrier.phase % barrier.phases.size()].vote;
  // The phase may be reached all the same: members may have sent their arrivals before the loss ended their barriers.
  // The loss is remembered, so that this rank's phase fails in either case.
  barrier.too_late = barrier.team->lost_member() != kNoRank;
  if (barrier.native) {
    // A rank that knows of a lost member does not arrive again. A conduit that only counts arrivals would take its next
    // one for the lost member's, and the phase would be reached for ranks that do not know of the loss yet.
    if (!barrier.too_late) [[likely]]
      barrier.native->notify(barrier.phase, barrier.vote);
    return;
  }
  barrier.round = 0;
  barrier.to_send = 0;
  step(barrier);
}

bool Barriers::reached(BarrierState& barrier) noexcept {
  if (barrier.native) return !barrier.too_late && barrier.native->reached(barrier.phase);
  return barrier.round == barrier.rounds;
}

// Ends the phases that all members have reached, and those that this rank began too late. Begins the next ones.
void Barriers::settle(BarrierState& barrier) noexcept {
  while (barrier.under_way) {
    if (barrier.too_late) [[unlikely]] {
      end_phase(barrier, barrier.team->loss());
    } else if (reached(barrier)) {
      if (barrier.native) barrier.vote = barrier.native->result(barrier.phase);
      end_phase(barrier, barrier.vote.is_mismatch() ? ErrorCode::mismatch : ErrorCode::ok);
    } else {
      return;
    }
  }
}

void Barriers::end_phase(BarrierState& barrier, Status outcome) noexcept {
  barrier.under_way = false;
  core::Op* const op = barrier.phases[barrier.phase % barrier.phases.size()].op;
  if (op == nullptr) {
    barrier.split_over = true;
    barrier.split_outcome = outcome;
  } else {
    if (--barrier.ops == 0 && barrier.native) {
      --polled_;
      set_busy();
    }
    state_.ops.part_ended(*op, outcome);
  }
  if (!barrier.under_way && barrier.asked != barrier.phase) begin_next(barrier);
}

// A member is lost: ends all phases, although their arrivals may still come in.
void Barriers::give_up(BarrierState& barrier) noexcept {
  settle(barrier);  // what all members have reached counts
  if (barrier.under_way) end_phase(barrier, barrier.team->loss());
  settle(barrier);  // all further phases are too late
}

bool Barriers::split_over(BarrierState& barrier) noexcept {
  settle(barrier);
  if (barrier.split_over) return true;
  if (barrier.split_flies || barrier.team->lost_member() == kNoRank) [[likely]]
    return false;  // the engine ends its operations itself
  give_up(barrier);
  return true;
}

// Runs inside a handler, so it must not throw.
void Barriers::arrived(Rank from, const Arrival& arrival) noexcept {
  const std::uint32_t round = arrival.round & ~kOfFinish;
  const bool finishes = round != arrival.round;
  BarrierState* const barrier = round >= most_rounds_ ? nullptr
                                : finishes            ? &finish_
                                                      : heard_of(from, arrival.team);
  if (barrier == nullptr) {
    ++state_.statistics.rejected;
    return;
  }
  HeardArrival& heard = barrier->heard[2 * round + arrival.phase % 2];
  if (heard.phase < arrival.phase) {
    const std::uint64_t bits = std::uint64_t{arrival.vote_kind} << 32 | arrival.vote_value;
    heard = {arrival.phase, core::BarrierVote::from_bits(bits)};
  }
  // A member that leaves makes no further call: the next one of this rank would wait for it for ever.
  TeamState* const world = state_.world != nullptr ? &state_.world->state() : nullptr;
  TeamState* const team = finishes ? world : barrier->team;
  if (arrival.leaving != 0 && team != nullptr && !barrier->leaving && team->find(from) != kNoRank) {
    if (TeamEngine* const engine = Collectives::engine_of(*team))
      engine->heard_last(from, arrival.leaving - 1, team == world ? kFinished : kEnded);
  }
  // A member that ends the team already arrives by messages, though the conduit has a barrier (agree_to_end).
  if (barrier->team == nullptr || !barrier->under_way || barrier->native) return;
  step(*barrier);
  settle(*barrier);
}

// The barrier of a team. If this rank has not made the team yet,
// the arrivals are remembered. Null: there is no room for that.
BarrierState* Barriers::heard_of(Rank from, std::uint64_t team) noexcept try {
  if (const auto known = barriers_.find(team); known != barriers_.end()) return &known->second;
  if (strange_ == kMostStrange) {
    forgotten_[from] = Forgotten::too_many;
    has_forgotten_ = true;
    return nullptr;
  }
  std::vector<HeardArrival> heard(2 * most_rounds_);
  BarrierState& barrier = barriers_[team];
  barrier.heard = std::move(heard);
  ++strange_;
  return &barrier;
} catch (const std::bad_alloc&) {
  forgotten_[from] = Forgotten::no_memory;
  has_forgotten_ = true;
  return nullptr;
}

// Sends the arrivals that are due. The arrival of round k is due once this rank has received that of round k - 1. Does
// not wait: `advance` sends an arrival that finds no room.
void Barriers::step(BarrierState& barrier) noexcept {
  const TeamState& team = *barrier.team;
  for (;;) {
    while (barrier.to_send <= barrier.round && barrier.to_send < barrier.rounds) {
      const Rank to = team.members[(team.index + (std::uint64_t{1} << barrier.to_send)) % team.size()];
      const std::uint64_t vote = barrier.vote.bits();
      // After a loss others may make calls that this rank has not made: they have not noticed yet. Its farewell tells them.
      const bool says_calls = barrier.leaving && !barrier.finishing && state_.lost_count == 0;
      const Arrival arrival{team.id,
                            barrier.phase,
                            barrier.to_send | (&barrier == &finish_ ? kOfFinish : 0),
                            static_cast<std::uint32_t>(vote >> 32),
                            static_cast<std::uint32_t>(vote),
                            says_calls ? calls_of(*barrier.team) + 1 : 0};
      const auto post = state_.messages->try_request(to, AmCategory::short_request, kArrive,
                                                     {&arrival, sizeof arrival, 0}, nullptr, {}, 0);
      if (post.kind == core::Post::Kind::retry) {
        if (!barrier.queued) {
          barrier.queued = true;
          ++queued_;
          set_busy();
        }
        return;
      }
      ++barrier.to_send;
    }
    if (barrier.round >= barrier.rounds) return;
    // A later phase counts, too: its sender has given this one up, because it knows of a lost member.
    const HeardArrival& heard = barrier.heard[2 * barrier.round + barrier.phase % 2];
    if (heard.phase < barrier.phase) return;
    if (heard.phase == barrier.phase) barrier.vote.merge(heard.vote);
    ++barrier.round;
  }
}

void Barriers::advance() noexcept {
  if (queued_ + polled_ == 0) [[likely]]
    return;  // other layers are busy
  send_queued(finish_);
  for (auto& [id, barrier] : barriers_) send_queued(barrier);
  set_busy();
}

void Barriers::send_queued(BarrierState& barrier) noexcept {
  if (std::exchange(barrier.queued, false)) {
    --queued_;
    step(barrier);
  }
  if (barrier.under_way) settle(barrier);
}

}  // namespace aqueduct::coll
