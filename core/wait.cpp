#include "core/wait.hpp"

#include "core/event_access.hpp"
#include "core/joint_sleep.hpp"
#include "core/memory_probe.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

namespace aqueduct {

namespace core {
namespace {

constexpr std::chrono::nanoseconds kBriefNap{100'000};
// Chosen: how late a limit may be noticed, apart from one slow round.
constexpr std::chrono::nanoseconds kBetweenLooks{1'000'000};

/// Sleeps without the endpoint's lock, if threads share it.
template <class Sleep>
void sleep_beside_others(Guard& guard, Guard::Why why, const Sleep& sleep) noexcept {
  if (!guard.shared()) return sleep();
  const OthersIn others(guard, why);
  sleep();
}
}  // namespace

std::string describe_operation(const Op& op) {
  std::string text = op.kind->what;
  if (op.kind->describe != nullptr) op.kind->describe(op, text);
  if (op.peer != kNoRank) text += fmt::format(" with rank {}", op.peer);
  return text;
}

bool LongWait::look_around() noexcept {
  const auto now = state_.clock.now();
  looked_ = now;
  if (began_ == Clock::time_point{}) {
    began_ = now;
    next_report_ = now + state_.pacing.stall_warn;
  }
  if (limit_ != std::chrono::nanoseconds::max() && now - began_ >= limit_) return false;
  if (now - state_.checked_peers > std::chrono::milliseconds(20)) check_peers(state_);
  if (state_.pacing.stall_warn.count() > 0 && now >= next_report_) report(now);
  return true;
}

bool LongWait::look_after_rounds() noexcept {
  const auto before = looked_;
  const bool in_time = look_around();
  const std::int64_t took = before == Clock::time_point{} ? 0 : (looked_ - before) / kBetweenLooks;
  if (took == 0)
    rounds_ = std::min(rounds_ * 2, kMostRounds);
  else
    rounds_ = static_cast<std::uint32_t>(std::max<std::int64_t>(rounds_ / (took + 1), 1));
  rounds_left_ = rounds_;
  return in_time;
}

void LongWait::report(Clock::time_point now) noexcept try {
  next_report_ = now + (now - began_);  // the next report when the wait has lasted twice as long
  ++state_.statistics.stalls;
  std::string text = describe_(what_);
  if (on_ < state_.ranks) {
    text += fmt::format("; rank {} is {} over {}", on_, state_.lost[on_] ? "lost" : "not known to be lost",
                        state_.conduit(on_).properties().name);
    if (const auto more = state_.conduit(on_).state_of(on_); !more.empty()) text += ": " + more;
  }
  for (const BuiltLayer& built : state_.layers) built.layer->describe(text, on_);
  if (!gets_memory()) text += fmt::format("; {}", kNoMemory);
  const auto in_flight = state_.ops.in_flight();
  text += fmt::format("; {} operation{} in flight", in_flight, in_flight == 1 ? "" : "s");
  for (const auto& [peer, count] : state_.ops.busiest()) text += fmt::format(", {} to rank {}", count, peer);
  state_.log.warn(
      "has waited {:.1f} s for {}. {} alive and making progress? (reported after AQUEDUCT_STALL_WARN)",
      std::chrono::duration<double>(now - began_).count(), text,
      on_ < state_.ranks ? "Is that rank" : "Are the ranks that it needs");
} catch (const std::bad_alloc&) {
  state_.log.warn("has waited {:.1f} s, and there is no memory to say for what",
                  std::chrono::duration<double>(now - began_).count());
}

std::chrono::nanoseconds LongWait::next_nap() noexcept {
  using Nanoseconds = std::chrono::nanoseconds;
  const Nanoseconds nap = nap_;
  const Nanoseconds lasted = state_.clock.now() - began_;
  nap_ = std::min(nap_ * 2, std::clamp(lasted / Naps::kShareOfWait, naps_.longest, naps_.latest));
  if (limit_ == Nanoseconds::max()) return nap;
  return std::clamp(limit_ - lasted, Nanoseconds{1}, nap);
}

bool LongWait::sleep(bool (*done)(const void*), const void* what) noexcept {
  auto nap = next_nap();
  // Layers have queued work, which waits for room. A neighbour that makes room does not wake this rank, so the sleep is
  // short. An arrival from the network ends it.
  const bool busy = state_.busy != 0;
  if (busy) nap = std::min(nap, kBriefNap);
  Guard& guard = state_.guard;
  JointSleep joint(busy ? nullptr : state_.near.get(), state_.far.get(), guard.bell());
  if (!joint.arm()) {
    nap = joint.cut(std::min(nap, kBriefNap));
    sleep_beside_others(guard, Guard::Why::looks_again, [&] { JointSleep::nap(nap); });
    return false;
  }
  {
    const HandlerQueue::Stays armed(state_.handlers);
    const std::uint64_t moves = state_.moves;
    bool found = progress(state_) != 0;
    if (!found && done(what)) return true;
    found = found || state_.moves != moves;  // the predicate may make a round too
    // A continuation or the predicate has waited, and another thread has armed the conduits meanwhile. To disarm them here
    // is to disarm them for it too, so it must look again.
    if (guard.shared() && !guard.take_turn()) {
      guard.wake_poller();
      return false;
    }
    if (found) return false;
  }
  if (!busy && state_.busy != 0) return false;
  ++state_.statistics.sleeps;
  nap = joint.cut(nap);
  sleep_beside_others(guard, Guard::Why::sleeps, [&] { joint.sleep(nap); });
  guard.changed();  // a neighbour may have changed memory for which another thread waits, and woken this one
  return false;
}

namespace {

// Chosen: looks at the news before a follower looks at its own condition, which takes the lock: some 4 us.
constexpr int kLooksOfAFollower = 128;

enum class Looked : std::uint8_t { done, not_yet, timed_out };

/// One look of the thread that polls for all.
Looked poll_for_all(EndpointState& state, LongWait& longer, std::optional<Backoff>& backoff, Pacing& pacing,
                    bool (*done)(const void*), const void* what) noexcept {
  Guard& guard = state.guard;
  const std::uint64_t moves = state.moves;
  const int found = progress(state);
  if (done(what)) return Looked::done;
  if (found > 0 && !longer.arrived()) return Looked::timed_out;
  if (!guard.take_turn()) return Looked::not_yet;  // a round has run a handler, so another thread polls now
  if (found > 0) {
    state.moves != moves ? backoff->restart_after_step() : backoff->restart();
    guard.give_way();
    return Looked::not_yet;
  }
  if (backoff->spins_next()) {
    static_cast<void>(backoff->next());
    guard.give_way();
    return Looked::not_yet;
  }
  Backoff::Step step{};
  {
    const OthersIn others(guard, Guard::Why::looks_again);
    step = backoff->next();
  }
  if (step == Backoff::Step::again) return Looked::not_yet;
  if (!longer.look_around()) return Looked::timed_out;
  if (step == Backoff::Step::sleep) {
    if (longer.sleep(done, what)) return Looked::done;
    // Another thread uses the endpoint again, so it may soon wait for what this one polls.
    if (guard.was_rung()) backoff.emplace(pacing, state.clock);
  }
  return Looked::not_yet;
}

/// One look of a thread that follows the one that polls.
Looked follow(EndpointState& state, LongWait& longer, Backoff& backoff, bool& is_new,
              bool (*done)(const void*), const void* what) noexcept {
  Guard& guard = state.guard;
  const auto why = std::exchange(is_new, false) ? Guard::Why::begins_to_wait : Guard::Why::looks_again;
  const std::uint32_t seen = guard.news();
  guard.follow(true);
  Backoff::Step step = Backoff::Step::again;
  {
    const OthersIn others(guard, why);
    // Not only for news: room for a packet appears without an arrival.
    for (int looks = 0; guard.news() == seen && step == Backoff::Step::again && looks < kLooksOfAFollower;
         ++looks)
      step = backoff.next();
    if (step == Backoff::Step::sleep && guard.news() == seen) guard.sleep_until_news(seen, longer.next_nap());
  }
  guard.follow(false);
  if (guard.news() != seen) backoff.restart();
  const bool in_time = step != Backoff::Step::again ? longer.look_around() : longer.arrived();
  if (done(what)) return Looked::done;  // after look_around, which may have found a lost peer
  return in_time ? Looked::not_yet : Looked::timed_out;
}

}  // namespace

Status wait_in_turn(EndpointState& state, LongWait& longer, bool (*done)(const void*),
                    const void* what) noexcept {
  Guard& guard = state.guard;
  // The lock is let go of in here, and no other thread may find the queue held: also if this wait is inside an armed one.
  const HandlerQueue::Stays runs(state.handlers, false);
  Pacing pacing = state.pacing;  // a copy, which this wait reads and teaches without the lock
  std::optional<Backoff> backoff(std::in_place, pacing, state.clock);
  bool is_new = true;
  static_cast<void>(longer.look_around());  // starts the time limit; it is asked again after the first look
  if (done(what)) return {};
  Looked looked = Looked::not_yet;
  // Looks are not weighed here: who follows looks at a word, and who polls asks whether the next step spins only.
  const std::uint32_t look = std::exchange(pacing.look, 1);
  while (looked == Looked::not_yet) {
    looked = guard.take_turn() ? poll_for_all(state, longer, backoff, pacing, done, what)
                               : follow(state, longer, *backoff, is_new, done, what);
  }
  pacing.look = look;
  backoff.reset();
  state.pacing = pacing;
  guard.end_turn();
  return looked == Looked::done ? Status{} : Status(ErrorCode::timed_out);
}

Status wait_for(EndpointState& state, Event& event, std::chrono::nanoseconds limit) noexcept {
  const Entry entry(state);
  if (event.done()) return event.status();
  const Op& op = *aqueduct::detail::EventAccess::operation(event);
  const Status status = wait_until(
      state, [&] { return event.done(); }, op.peer, [&] { return describe_operation(op); }, limit);
  return status ? event.status() : status;
}

Status wait_to_the_end(EndpointState& state, Event& event) noexcept {
  const Entry entry(state);
  const bool inside = std::exchange(state.in_continuation, false);
  const Status status = wait_for(state, event, std::chrono::nanoseconds::max());
  state.in_continuation = inside;
  return status;
}

}  // namespace core
}  // namespace aqueduct
