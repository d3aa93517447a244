// Polls, and the waits of GASNET_BLOCKUNTIL.

#include "compat/gasnet/misuse.hpp"
#include "compat/gasnet/state.hpp"

#include <chrono>
#include <utility>

using namespace aqueduct;
using namespace aqueduct::gasnet;

namespace {

/// Whether the job has more ranks on this host than processors on which these may run: fewer than the host has, if a launcher
/// or a container has bound them.
bool is_crowded() noexcept {
  static const bool crowded = shares_processors(state().ep, state().me());
  return crowded;
}

/// Called after a poll that found nothing. Clients wait in loops of polls, and so keep the processor from the rank that they wait
/// for until the system takes it away, some milliseconds later. Now and then a poll in such a loop waits, as the library does. A
/// client that does something else between its polls never waits (docs/decisions/0157-polls-in-a-loop-wait.md).
void polled_in_vain() noexcept {
  using std::chrono::microseconds;
  using Clock = std::chrono::steady_clock;
  constexpr unsigned kPolls = 64;
  constexpr microseconds kInALoop{100};  // chosen: some times longer than kPolls polls take
  constexpr microseconds kWait{100};
  static thread_local unsigned in_vain = 0;
  static thread_local Clock::time_point before;
  if (++in_vain % kPolls != 0) return;
  look_for_a_loss();
  if (!is_crowded()) return;
  if (wait_mode.load(std::memory_order_relaxed) == GASNET_WAIT_SPIN) return;
  if (const auto now = Clock::now(); now - std::exchange(before, now) > kInALoop) return;
  static_cast<void>(state().ep.progress_for(kWait));
  before = Clock::now();
}

}  // namespace

extern "C" {

int gasnet_AMPoll(void) {
  check_context("gasnet_AMPoll");
  if (state().ep.progress() == 0) polled_in_vain();
  return GASNET_OK;
}
void aqg_pause(unsigned* round) {
  check_context("GASNET_BLOCKUNTIL");
  // In the first rounds the condition is often about to hold. Later ones wait for an arrival as the library does, which
  // knows whether to spin, to yield or to sleep here. But not for long: what the condition looks at may be memory that
  // another rank or thread changes, which is noticed late by 6 % of the wait, and by 2 ms or 100 us at first.
  constexpr unsigned kSpins = 64;
  constexpr unsigned kShort = kSpins + 64;
  constexpr unsigned kOfALength = 32;
  constexpr std::chrono::nanoseconds kShortest{100'000};
  constexpr std::chrono::nanoseconds kFirstWithSleep{2'000'000};  // the library sleeps after 1 ms
  constexpr std::chrono::nanoseconds kLongest{16'000'000};
  Endpoint& ep = state().ep;
  const int mode = wait_mode.load(std::memory_order_relaxed);
  if (mode == GASNET_WAIT_SPIN || *round < (mode == GASNET_WAIT_BLOCK ? 1 : kSpins)) {
    ++*round;
    if (ep.progress() == 0 && *round % kSpins == 0) look_for_a_loss();
    return;
  }
  const auto limit = *round < kShort ? kShortest : kFirstWithSleep * (1 << (*round - kShort) / kOfALength);
  if (ep.progress_for(limit).code() != ErrorCode::timed_out) return;
  look_for_a_loss();
  if (limit < kLongest) ++*round;
}
}
