#include "core/backoff.hpp"

#include <algorithm>

#include <sched.h>

namespace aqueduct::core {
namespace {

// A yield that takes longer has let another thread run. Measured: sched_yield takes 0.5 us if no other thread wants the
// core, and 1.5 us or more if one does.
constexpr std::chrono::nanoseconds kAlone{1000};
// Chosen: twice what a sleeping process takes to wake up on an idle core of a virtual machine.
constexpr std::chrono::nanoseconds kWakesWithin{200'000};

}  // namespace

int available_cores() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

Backoff::Step Backoff::give_way(bool is_woken) noexcept {
  Clock::time_point before = clock_.now();
  if (!timed_) {
    timed_ = true;
    began_ = before;
    if (first_ == Clock::time_point{}) first_ = before;
  }
  if (before - began_ >= pacing_.yield_at_most) return Step::sleep;
  if (pacing_.long_spins > 0 && before - began_ < kWakesWithin) {
    relax();
    return Step::again;
  }
  if (is_woken && pacing_.may_do_without_yields() && before < pacing_.sleeps_until) {
    slept_at_once_ = true;
    return Step::sleep;
  }
  ::sched_yield();
  yielded_ = true;
  const Clock::time_point back = clock_.now();
  if (back - before > kAlone) others_ran_ = true;
  if (back - before > pacing_.slice) {
    lost_slice_ = true;
    if (pacing_.may_do_without_yields()) learn_to_sleep(before, back);
  }
  return Step::yielded;
}

Backoff::~Backoff() {
  if (looks_ == 0) return;
  if (timed_ || yielded_) learn_long_spins();
  if (!timed_ && !others_ran_ && !slept_at_once_) {
    // Spinning was enough. Spin only a little longer next time: one short
    // wait must not undo what many long ones on a crowded host have taught.
    if (looks_ * 2 > pacing_.spins) {
      pacing_.spins = std::min(pacing_.most, pacing_.spins + pacing_.spins / 8 + 1);
    }
    return;
  }
  const bool soon = timed_ && clock_.now() - began_ < pacing_.spin_at_most;
  if (soon && !others_ran_ && !slept_at_once_) {
    pacing_.spins = std::min(pacing_.most, pacing_.spins * 2);  // a longer spin would have been enough
  } else {
    pacing_.spins = std::max(std::min(pacing_.fewest, pacing_.most), pacing_.spins / 2);
  }
}

void Backoff::learn_to_sleep(Clock::time_point yielded, Clock::time_point back) noexcept {
  const auto since = yielded - pacing_.sleeps_until;
  if (since < since.zero()) return;  // a wait that nobody would wake has yielded all the same
  pacing_.spell = since < Pacing::kSoon
                      ? std::clamp(4 * pacing_.spell, Pacing::kShortestSpell, Pacing::kLongestSpell)
                      : Pacing::kShortestSpell;
  pacing_.sleeps_until = back + pacing_.spell;
}

void Backoff::learn_long_spins() noexcept {
  int& spins = pacing_.long_spins;
  if (!yielded_) {
    if (spins > 0) spins = Pacing::kVainSpins;  // the longer spin was enough
    return;
  }
  if (spins < 0) {
    ++spins;
  } else if (!lost_slice_) {
    spins = 0;
  } else if (spins > 0) {
    if (--spins == 0) spins = -Pacing::kWithoutThem;
  } else if (pacing_.fewest >= Pacing::kFewestWithCores && pacing_.most >= pacing_.fewest) {
    // Not with more ranks than cores: there this rank may wait for the rank whose thread ran. Nor if it is told to spin
    // for less.
    spins = Pacing::kVainSpins;
  }
}

}  // namespace aqueduct::core
