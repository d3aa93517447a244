// Polls, and the waits of GASNET_BLOCKUNTIL.

#include "compat/gasnet/state.hpp"

#include <chrono>

using namespace aqueduct;
using namespace aqueduct::gasnet;

extern "C" {

int gasnet_AMPoll(void) {
  check_may_poll("gasnet_AMPoll");
  state().ep.progress();
  return GASNET_OK;
}
void aqg_pause(unsigned* round) {
  check_may_poll("GASNET_BLOCKUNTIL");
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
    ep.progress();
    return;
  }
  const auto limit = *round < kShort ? kShortest : kFirstWithSleep * (1 << (*round - kShort) / kOfALength);
  if (ep.progress_for(limit).code() == ErrorCode::timed_out && limit < kLongest) ++*round;
}
}
