#include "coll/barriers.hpp"

#include "coll/engine/collectives.hpp"
#include "core/memory_probe.hpp"
#include "core/wait.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <new>
#include <utility>

namespace aqueduct::coll {

using aqueduct::detail::TeamSlot;

namespace {

/// The calls that this rank has made of a team, in 31 bits.
std::uint32_t calls_of(TeamState& team) noexcept {
  const TeamEngine* const engine = Collectives::engine_of(team);
  return engine != nullptr ? static_cast<std::uint32_t>(engine->calls() & 0x7fff'ffff) : 0;
}

/// With this vote of one member a barrier ends with mismatch.
core::BarrierVote agrees_with_none() noexcept {
  core::BarrierVote two_values(0);
  two_values.merge(core::BarrierVote(1));
  return two_values;
}

// Chosen: programs that free memory again do so sooner.
constexpr std::chrono::seconds kNoMemoryLimit{5};
// Chosen: waits look every 20 ms. A rank that computes or is stopped between two looks has not tried to send meanwhile.
constexpr std::chrono::seconds kLooksSeldom{1};

}  // namespace

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

Status Barriers::ask(BarrierState& barrier, core::BarrierVote vote, core::Op* op) noexcept {
  TeamEngine* const engine = barrier.native ? nullptr : Collectives::engine_of(*barrier.team);
  const bool flies = engine != nullptr && engine->has_barriers();
  if (op == nullptr) barrier.split_by_engine = flies;
  if (flies) return fly(*engine, barrier, vote, op);
  ask_for_phase(barrier, vote, op);
  return {};
}

void Barriers::ask_to_finish(TeamState& world) noexcept {
  BarrierState& of_program = *barrier_of(world);
  if (!of_program.finishing) left_ = of_program.asked;
  of_program.finishing = of_program.leaving = true;
  finish_.team = &world;
  finish_.leaving = true;
  finish_.split_over = false;
  ask_for_phase(finish_, {}, nullptr);
}

// One at a time: the next one is begun when all ranks have reached this one.
void Barriers::join_phases() noexcept {
  BarrierState& of_program = *barrier_of(*finish_.team);
  const TeamEngine* const engine = of_program.native ? nullptr : Collectives::engine_of(*finish_.team);
  // The engine ends its barriers itself: it is told of this rank's calls.
  if (engine != nullptr && engine->has_barriers()) return;
  settle(of_program);
  if (of_program.under_way || finish_.team->lost_member() != kNoRank) return;
  ask_for_phase(of_program, agrees_with_none(), nullptr);
  if (!of_program.under_way)
    ++state_.moves;  // others may be in the next one already: no sleep before that is joined
}

bool Barriers::left_over() noexcept {
  BarrierState& of_program = *barrier_of(*finish_.team);
  if (!finish_.split_outcome || finish_.team->lost_member() != kNoRank) return true;
  settle(of_program);
  return of_program.phase > left_ || (of_program.phase == left_ && !of_program.under_way);
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

// What the engine's operation waits for, Collectives::describe adds.
std::string Barriers::describe_split(const BarrierState& barrier) const {
  const TeamState& team = *barrier.team;
  if (barrier.split_flies)
    return fmt::format("a barrier of a team of {} ranks (member {})", team.size(), team.index);
  return fmt::format("phase {} of the barrier of a team of {} ranks (member {}), in which it waits for {}",
                     barrier.phase, team.size(), team.index, missing(barrier));
}

std::string Barriers::missing(const BarrierState& barrier) const {
  const TeamState& team = *barrier.team;
  std::vector<Rank> ranks;
  if (barrier.native) {
    ranks = barrier.native->missing(barrier.phase);
  } else if (barrier.under_way && barrier.round < barrier.rounds) {
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

void Barriers::describe(std::string& text, Rank) const {
  for (const auto& [id, barrier] : barriers_) {
    if (barrier.ops == 0 || !barrier.under_way) continue;
    text += fmt::format("; phase {} of {} of the barrier of a team of {} ranks waits for {}", barrier.phase,
                        barrier.asked, barrier.team->size(), missing(barrier));
  }
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

void Barriers::report_forgotten(Rank from, Forgotten why) noexcept {
  if (why == Forgotten::too_many) {
    state_.log.error(
        "rank {} has arrived at a barrier of a team that this rank has not made yet or has ended alone, and "
        "{} such teams are remembered already, which is the most: that barrier could not end, so the rank is "
        "taken for lost",
        from, kMostStrange);
    return;
  }
  state_.log.error(
      "there is no memory to remember that rank {} has arrived at a barrier of a team that this rank has "
      "not made yet, and that barrier could not end: the rank is taken for lost (see ulimit -v, setrlimit "
      "and vm.overcommit_memory)",
      from);
}

Rank Barriers::unreachable() noexcept {
  if (std::exchange(has_forgotten_, false)) {
    for (Rank from = 0; from < state_.ranks; ++from) {
      if (forgotten_[from] == Forgotten::no || state_.lost[from]) continue;
      has_forgotten_ = true;  // there may be more
      report_forgotten(from, std::exchange(forgotten_[from], Forgotten::no));
      return from;
    }
  }
  const auto now = state_.clock.now();
  const bool was_away = now - std::exchange(looked_at_, now) > kLooksSeldom;
  if (queued_ == 0 || core::gets_memory()) {
    short_since_ = {};
    return kNoRank;
  }
  if (was_away || short_since_ == core::Clock::time_point{}) short_since_ = now;
  // Operations in flight, and messages without an answer, may be what takes the room: then the peer is only late.
  if (now - short_since_ < kNoMemoryLimit || state_.ops.in_flight() != 0) return kNoRank;
  Rank to = without_room(finish_);
  for (auto one = barriers_.begin(); to == kNoRank && one != barriers_.end(); ++one)
    to = without_room(one->second);
  if (to != kNoRank)
    state_.log.error(
        "a barrier's message to rank {} has found no room for {:.1f} s, and {}: the rank is taken for lost",
        to, std::chrono::duration<double>(now - short_since_).count(), core::kNoMemory);
  return to;
}

/// The rank to which a message of the barrier has found no room, if that is not because it has not answered; else kNoRank.
Rank Barriers::without_room(const BarrierState& barrier) const noexcept {
  if (!barrier.queued || barrier.team == nullptr) return kNoRank;
  const TeamState& team = *barrier.team;
  const Rank to = team.members[(team.index + (std::uint64_t{1} << barrier.to_send)) % team.size()];
  return state_.lost[to] || !state_.messages->has_all_credits(to) ? kNoRank : to;
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
