#pragma once

#include "core/entry.hpp"

#include <chrono>
#include <string>
#include <type_traits>
#include <utility>

namespace aqueduct::core {

/// How long the sleeps of a wait are: the first one, and the longest. Each sleep is twice as long as the one before. Once a
/// wait has lasted 64 times `longest`, its sleeps grow with it, up to `latest`.
struct Naps {
  std::chrono::nanoseconds first;
  std::chrono::nanoseconds longest;
  std::chrono::nanoseconds latest;
  bool arrival_ends_them;                  ///< false: what is waited for may change without an arrival
  static constexpr int kShareOfWait = 64;  ///< chosen: a change is noticed late by 1.6 % of the wait
};

/// For a wait that arrivals end. Chosen: the interval at which peers are checked. Measured: eight idle ranks take about
/// 2 % of one core with one conduit and 3 % with two, their start included.
inline constexpr Naps kArrivalNaps{std::chrono::milliseconds(1), std::chrono::milliseconds(20),
                                   std::chrono::milliseconds(20), true};
/// For a wait for memory that may change without an arrival. Chosen: the first sleep is short beside the time that the
/// wait has spun and yielded before it. With sleeps of 1 ms an idle rank wakes a thousand times a second, which takes
/// ten times the processor time of a wait in a barrier. A wait that has lasted for 1.3 s wakes as often as that one.
inline constexpr Naps kMemoryNaps{std::chrono::microseconds(100), std::chrono::milliseconds(1),
                                  std::chrono::milliseconds(20), false};

/// The slow part of a wait, after it has given up the core: checks peers and the time limit, reports stalls, sleeps.
class LongWait {
 public:
  /// For the stall report, `describe(what)` says what the wait waits for, and `on` is the peer, or kNoRank.
  LongWait(EndpointState& state, Rank on, std::chrono::nanoseconds limit,
           std::string (*describe)(const void*), const void* what, const Naps& naps = kArrivalNaps) noexcept
      : state_(state),
        on_(on),
        limit_(limit),
        describe_(describe),
        what_(what),
        naps_(naps),
        nap_(naps.first),
        rounds_(limit == std::chrono::nanoseconds::max() ? kMostRounds : 1),
        rounds_left_(rounds_) {}

  /// Called between yields and around each sleep. False: the time limit has passed.
  bool look_around() noexcept;
  /// Called after a round of progress that has found something. With steady other traffic too, stalls are reported and the
  /// limit holds: some of these calls look around, at least about one in a millisecond. False: as look_around.
  bool arrived() noexcept { return --rounds_left_ != 0 || look_after_rounds(); }
  /// Sleeps until something arrives, or for a bounded time. Returns true, without sleeping, if `done(what)` is true.
  bool sleep(bool (*done)(const void*), const void* what) noexcept;
  /// How long the next sleep may last: longer each time, within the time limit. Requires: look_around has been called.
  std::chrono::nanoseconds next_nap() noexcept;

 private:
  // Chosen: reading the clock takes 25 ns, which is little beside 64 rounds of progress; and most waits end sooner.
  static constexpr std::uint32_t kMostRounds = 64;

  void report(Clock::time_point now) noexcept;
  bool look_after_rounds() noexcept;

  EndpointState& state_;
  Rank on_;
  std::chrono::nanoseconds limit_;
  std::string (*describe_)(const void*);
  const void* what_;
  Clock::time_point began_{};
  Clock::time_point next_report_{};
  const Naps naps_;
  std::chrono::nanoseconds nap_;
  Clock::time_point looked_{};
  std::uint32_t
      rounds_;  ///< from one look to the next. A round may run many handlers, and each may take long.
  std::uint32_t rounds_left_;
};

/// The loop of wait_until when threads share the endpoint: one of those that wait polls, the others follow it.
/// `done(what)` was false. Requires: an Entry.
Status wait_in_turn(EndpointState& state, LongWait& longer, bool (*done)(const void*),
                    const void* what) noexcept;

/// Makes progress until `done()` returns true. `done` may have an
/// effect when it succeeds: it is not called again after that.
/// `naps` bounds the time in which `done` is not called.
///
/// `done` is called under the endpoint's lock, on this thread. If it becomes true by a call of another thread, not by
/// progress, that call should say `guard.changed()`; otherwise this wait may notice it 20 ms late.
///
/// `done` must become true when the peer that it depends on is lost: otherwise only the time limit ends the wait.
/// Errors: in_handler, timed_out, invalid_argument (in a forked child).
template <class Done, class Describe>
Status wait_until(EndpointState& state, const Done& done, Rank on, const Describe& describe,
                  std::chrono::nanoseconds limit = std::chrono::nanoseconds::max(),
                  const Naps& naps = kArrivalNaps) noexcept {
  if (state.in_child()) [[unlikely]]
    return ErrorCode::invalid_argument;
  const Entry entry(state);
  if (done()) return {};
  if (state.must_not_wait()) return ErrorCode::in_handler;
  const auto text = [](const void* what) { return (*static_cast<const Describe*>(what))(); };
  const auto over = [](const void* what) { return (*static_cast<const Done*>(what))(); };
  LongWait longer(state, on, limit, text, &describe, naps);
  if (state.guard.shared()) [[unlikely]]
    return wait_in_turn(state, longer, over, &done);
  Backoff backoff(state.pacing, state.clock);
  for (;;) {
    const std::uint64_t moves = state.moves;
    const int found = progress(state);
    if (done()) return {};
    if (found > 0) {
      if (!longer.arrived()) return ErrorCode::timed_out;
      state.moves != moves ? backoff.restart_after_step() : backoff.restart();
      continue;
    }
    // Layers with queued work look for room, which no arrival announces.
    const bool is_woken = naps.arrival_ends_them && state.busy == 0;
    const Backoff::Step step =
        backoff.next((state.busy | state.watching) != 0 ? Backoff::kLayersLook : 0, is_woken);
    if (step == Backoff::Step::again) continue;
    if (!longer.look_around()) return ErrorCode::timed_out;
    if (step == Backoff::Step::sleep && longer.sleep(over, &done)) return {};
  }
}

/// What an operation is, for the stall report of a wait for it.
std::string describe_operation(const Op& op);
/// Waits until the event is done, but for at most `limit`. Returns the outcome of its operation.
///
/// Errors: those of the operation; in_handler, timed_out, invalid_argument (the event is unchanged).
Status wait_for(EndpointState& state, Event& event, std::chrono::nanoseconds limit) noexcept;

/// As `wait_until`, for the call that begins an operation: it waits for room, or for the operation itself. So it may do
/// so in a continuation too. No other continuation runs meanwhile.
template <class Done, class Describe>
Status wait_for_room(EndpointState& state, const Done& done, Rank on, const Describe& describe) noexcept {
  const Entry entry(state);
  const bool inside = std::exchange(state.in_continuation, false);
  const Status status = wait_until(state, done, on, describe);
  state.in_continuation = inside;
  return status;
}

/// Waits for the operation of an event that the caller cannot keep.
Status wait_to_the_end(EndpointState& state, Event& event) noexcept;

/// As `wait_for`, without a limit.
inline Status wait(EndpointState& state, Event& event) noexcept {
  if (event.done()) [[likely]]
    return event.status();
  return wait_for(state, event, std::chrono::nanoseconds::max());
}

}  // namespace aqueduct::core
