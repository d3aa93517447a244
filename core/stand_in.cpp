#include "core/stand_in.hpp"

#include "core/entry.hpp"
#include "core/joint_sleep.hpp"
#include "core/quiet_thread.hpp"

#include <algorithm>
#include <utility>

namespace aqueduct::core {
namespace {

// Chosen: a program that is away without collective operations costs a look at each of these multiples of the patience.
constexpr int kMostPatience = 4;
// Chosen: as that of a wait whose layers want room (LongWait::sleep). A peer that makes room wakes nobody.
constexpr std::chrono::nanoseconds kWithoutRoom{100'000};
// Chosen: arrivals end the sleep, and calls of the program; this is the second line.
constexpr std::chrono::nanoseconds kLongestStandInSleep{20'000'000};

}  // namespace

/// What the conduits deliver while the thread polls.
class StandIn::Filter final : public Inbox {
 public:
  explicit Filter(StandIn& stand_in) noexcept : stand_in_(stand_in), inbox_(*stand_in.state_.inbox) {}
  void packet(Rank from, Bytes packet) noexcept override { stand_in_.take_packet(from, packet); }
  void completed(Token token, Status status) noexcept override { inbox_.completed(token, status); }
  void signalled(Rank from, Signal signal) noexcept override { inbox_.signalled(from, signal); }
  void lost(Rank peer) noexcept override { stand_in_.take_loss(peer); }

 private:
  StandIn& stand_in_;
  Inbox& inbox_;
};

StandIn::StandIn(EndpointState& state, std::chrono::nanoseconds patience, IsForProgram is_for_program)
    : state_(state), patience_(patience), is_for_program_(is_for_program) {
  lost_.reserve(std::size_t{2} * state.ranks);  // each of two conduits reports a peer once
  thread_ = start_quiet_thread("aqueduct-coll", [this] { run(); });
}

StandIn::~StandIn() { stop(); }

void StandIn::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_.store(true, std::memory_order_relaxed);
  }
  wake_.notify_all();
  { const Entry entry(state_); }  // as each call does, it ends a sleep on the conduits
  thread_.join();
}

/// False: the thread must end.
bool StandIn::nap(std::chrono::nanoseconds time) noexcept {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, time, [this] { return stop_.load(std::memory_order_relaxed); });
}

void StandIn::run() noexcept {
  std::uint32_t seen = state_.polls.load(std::memory_order_relaxed);
  auto time = patience_;
  while (nap(time)) {
    const std::uint32_t now = state_.polls.load(std::memory_order_relaxed);
    const bool is_away = std::exchange(seen, now) == now;
    time = is_away && !stand_in(seen) ? std::min(2 * time, kMostPatience * patience_) : patience_;
  }
}

/// Whether a conduit asks for a poll soon. It may have accepted packets of operations that are over on this rank, and not
/// have sent them, or have to send them again.
bool StandIn::owes_polls() const noexcept {
  for (Conduit* const conduit : {state_.near.get(), state_.far.get()}) {
    const Waitable* const waitable = conduit != nullptr ? conduit->waitable() : nullptr;
    if (waitable != nullptr && waitable->within() < kLongestStandInSleep) return true;
  }
  return false;
}

// A rank's part of a collective operation may be over while its last put is in flight, which needs its polls.
bool StandIn::is_needed(std::uint32_t seen) const noexcept {
  return (state_.watching != 0 || state_.ops.in_flight() != 0 || lacks_room() || owes_polls()) &&
         !state_.guard.has_followers() && state_.polls.load(std::memory_order_relaxed) == seen &&
         !stop_.load(std::memory_order_relaxed);
}

/// Makes progress until the program does, or nothing is left to do. False: there was nothing to do.
bool StandIn::stand_in(std::uint32_t seen) noexcept {
  Guard& guard = state_.guard;
  guard.enter();
  const bool acts = is_needed(seen) && guard.take_turn();
  if (acts) {
    static_cast<void>(guard.was_rung());  // before this thread had the turn
    make_rounds(seen);
    guard.end_turn();
  }
  // Not as a call ends: that would wake a thread of the program that sleeps with the turn.
  static_cast<void>(guard.let_go(Guard::Why::looks_again));
  return acts;
}

void StandIn::make_rounds(std::uint32_t seen) noexcept {
  do {
    if (round() != 0) {
      state_.guard.give_way();
    } else if (!sleep(seen)) {
      return;
    }
  } while (is_needed(seen));
}

/// Whether something waits for room. Continuations and handlers are queued work too, but wait for the program.
bool StandIn::lacks_room() const noexcept {
  return state_.busy > (state_.continuations.queued() ? 1u : 0u) + (state_.handlers.queued() != 0 ? 1u : 0u);
}

/// Sleeps until something arrives. False: a thread of the program has made a call meanwhile.
bool StandIn::sleep(std::uint32_t seen) noexcept {
  Guard& guard = state_.guard;
  const bool no_room = lacks_room();
  auto limit = no_room ? kWithoutRoom : kLongestStandInSleep;
  JointSleep joint(no_room ? nullptr : state_.near.get(), state_.far.get(), guard.bell());
  if (!joint.arm()) {
    limit = joint.cut(kWithoutRoom);
    const OthersIn others(guard, Guard::Why::looks_again);
    JointSleep::nap(limit);
    return true;
  }
  // Arrivals before `arm` end no sleep.
  if (round() != 0 || !is_needed(seen) || (!no_room && lacks_room())) return true;
  limit = joint.cut(limit);
  {
    const OthersIn others(guard, Guard::Why::sleeps);
    // A conduit that asks for a poll at once has had one that found nothing to do: its network has no room.
    limit.count() > 0 ? joint.sleep(limit) : JointSleep::nap(kWithoutRoom);
  }
  return !guard.was_rung();
}

/// As core::progress, but nothing of the program's runs, and nobody looks for lost peers: the launcher's reports may end
/// the process.
int StandIn::round() noexcept {
  if (state_.polling) return 0;
  state_.polling = state_.stands_in = true;
  Filter filter(*this);
  int found = 0;
  if (state_.near != nullptr) found += state_.near->poll(filter);
  if (state_.far != nullptr) found += state_.far->poll(filter);
  const std::uint64_t moves = state_.moves;
  for (const BuiltLayer& built : state_.layers) built.layer->advance();
  found += state_.moves != moves ? 1 : 0;
  state_.polling = state_.stands_in = false;
  state_.arrivals += static_cast<std::uint64_t>(found);
  state_.guard.changed();
  return found;
}

// The library's own packets may overtake the messages: a fence orders no put, signal or atomic behind one (M-22 of
// docs/memory-model.md).
void StandIn::take_packet(Rank from, Bytes packet) noexcept {
  // Without memory to keep it a handler of the program's runs here: to drop the message would be worse.
  if (!is_for_program_(packet) || !kept_.add(from, packet, {})) state_.inbox->packet(from, packet);
}

void StandIn::take_loss(Rank peer) noexcept {
  if (kept_.empty()) return state_.inbox->lost(peer);
  lost_.push_back(peer);
}

int StandIn::deliver_all() noexcept {
  const int found = kept_.deliver(*state_.inbox) + static_cast<int>(lost_.size());
  for (const Rank peer : lost_) state_.inbox->lost(peer);
  lost_.clear();
  return found;
}

}  // namespace aqueduct::core
