#include "core/backoff.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <sched.h>

namespace aqueduct::core {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Step = Backoff::Step;

Pacing pacing_of(std::uint32_t spins, std::chrono::nanoseconds yield) {
  Pacing pacing;
  pacing.spins = spins;
  pacing.yield_at_most = yield;
  return pacing;
}

TEST(Backoff, SpinsThenYieldsThenSleepsAndNeverGoesBack) {
  Pacing pacing = pacing_of(100, 5ms);
  Backoff backoff(pacing, kSystemClock);
  int again = 0, yielded = 0;
  Step step = backoff.next();
  for (; step == Step::again && again < 1'000'000; step = backoff.next()) ++again;
  EXPECT_GE(again, 50);
  ASSERT_EQ(step, Step::yielded);
  const auto until = Clock::now() + 10s;
  for (; step == Step::yielded && Clock::now() < until; step = backoff.next()) ++yielded;
  EXPECT_GE(yielded, 1);
  ASSERT_EQ(step, Step::sleep);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(backoff.next(), Step::sleep);
}

TEST(Backoff, WithoutTimeToYieldSleepsAtOnce) {
  Pacing pacing = pacing_of(16, 0ns);
  Backoff backoff(pacing, kSystemClock);
  Step step = backoff.next();
  for (int i = 0; step == Step::again && i < 1'000'000; ++i) step = backoff.next();
  EXPECT_EQ(step, Step::sleep);
}

TEST(Backoff, AWaitThatDidNotEndWhileSpinningShortensTheNextOne) {
  Pacing pacing = pacing_of(1000, 1ms);
  for (int wait = 0; wait < 100; ++wait) {
    Backoff backoff(pacing, kSystemClock);
    const auto until = Clock::now() + 10s;
    while (backoff.next() != Step::sleep && Clock::now() < until) {
    }
  }
  EXPECT_EQ(pacing.spins, Pacing::kFewestSpins);
}

TEST(Backoff, NeverLearnsToLookLessOftenThanItIsTold) {
  Pacing pacing = pacing_of(1000, 1ms);
  pacing.fewest = Pacing::kFewestWithCores;
  for (int wait = 0; wait < 20; ++wait) {
    Backoff backoff(pacing, kSystemClock);
    const auto until = Clock::now() + 10s;
    while (backoff.next() != Step::sleep && Clock::now() < until) {
    }
  }
  EXPECT_EQ(pacing.spins, Pacing::kFewestWithCores);
}

TEST(Backoff, NeverLearnsBeyondItsBounds) {
  Pacing pacing = pacing_of(Pacing::kMostSpins, 1ms);
  for (int wait = 0; wait < 1000; ++wait) {
    Backoff backoff(pacing, kSystemClock);
    for (std::uint32_t look = 0; look < pacing.spins; ++look) ASSERT_EQ(backoff.next(), Step::again);
  }
  EXPECT_LE(pacing.spins, Pacing::kMostSpins);
  EXPECT_GE(pacing.spins, Pacing::kFewestSpins);
}

TEST(Backoff, YieldsAtOnceIfItMustNotSpin) {
  Pacing pacing = pacing_of(1000, 5ms);
  pacing.fewest = Pacing::kFewestWithCores;
  pacing.spin_for(0ns);
  for (int wait = 0; wait < 20; ++wait) {
    Backoff backoff(pacing, kSystemClock);
    ASSERT_NE(backoff.next(), Step::again) << "wait " << wait;
  }
  EXPECT_EQ(pacing.long_spins, 0);
}

TEST(Backoff, LearnsToSpinLongerThanUsualIfItMay) {
  Pacing pacing = pacing_of(1000, 5ms);
  pacing.spin_for(1ms);
  for (int wait = 0; wait < 100; ++wait) {
    Backoff backoff(pacing, kSystemClock);
    for (std::uint32_t look = 0; look < pacing.spins; ++look) ASSERT_EQ(backoff.next(), Step::again);
  }
  EXPECT_EQ(pacing.spins, 100'000u);
  pacing.spin_for(1us);
  EXPECT_EQ(pacing.spins, 100u);
}

/// A clock that goes on by `step` whenever it is read.
struct SteppingClock {
  std::chrono::nanoseconds step{0};
  Clock::time_point at{};
  EndpointClock clock{[](const void* self) noexcept {
                        auto& mine = *const_cast<SteppingClock*>(static_cast<const SteppingClock*>(self));
                        return mine.at += mine.step;
                      },
                      this};
};

/// Waits until the first yield, and says how many checks came before it.
int checks_before_yield(Pacing& pacing, const SteppingClock& time) {
  Backoff backoff(pacing, time.clock);
  int checks = 0;
  while (checks < 1'000'000 && backoff.next() == Step::again) ++checks;
  return checks;
}

Step step_after_spins(Backoff& backoff) {
  Step step = backoff.next();
  while (step == Step::again) step = backoff.next();
  return step;
}

TEST(Backoff, YieldsAnewAfterAnArrivalDuringTheFirstSecondAndAfterAStepAlways) {
  Pacing pacing = pacing_of(16, 5ms);
  SteppingClock time{.step = 1ms};
  Backoff backoff(pacing, time.clock);
  const auto goes_to_sleep = [&] {
    for (int i = 0; i < 20; ++i) {
      if (step_after_spins(backoff) == Step::sleep) return true;
    }
    return false;
  };
  int renewed = 0;
  while (time.at.time_since_epoch() < 900ms) {
    ASSERT_TRUE(goes_to_sleep());
    backoff.restart();
    ASSERT_EQ(step_after_spins(backoff), Step::yielded);
    ++renewed;
  }
  EXPECT_GT(renewed, 50);
  while (time.at.time_since_epoch() < 1100ms) {
    ASSERT_TRUE(goes_to_sleep());
    backoff.restart();
  }
  EXPECT_EQ(step_after_spins(backoff), Step::sleep) << "what arrives does not end this wait";
  backoff.restart_after_step();
  EXPECT_EQ(step_after_spins(backoff), Step::yielded);
}

TEST(Backoff, CountsALongLookAsSeveral) {
  SteppingClock time{.step = 1us};
  Pacing pacing = pacing_of(160, 5ms);
  pacing.look = 16;
  EXPECT_EQ(checks_before_yield(pacing, time), 10);
  pacing = pacing_of(160, 5ms);
  Backoff backoff(pacing, time.clock);
  int checks = 0;
  while (checks < 1000 && backoff.next(9) == Step::again) ++checks;
  EXPECT_EQ(checks, 16);
}

// What came last took a few looks only; but the core was given to others before.
TEST(Backoff, LearnsOfOthersOnTheCoreFromAWaitWithArrivalsToo) {
  Pacing pacing = pacing_of(100, 50ms);
  SteppingClock time{.step = 10us};
  {
    Backoff backoff(pacing, time.clock);
    ASSERT_EQ(step_after_spins(backoff), Step::yielded);
    backoff.restart();
    ASSERT_EQ(backoff.next(), Step::again);
  }
  EXPECT_EQ(pacing.spins, 50u);
}

TEST(Backoff, SpinsAsLongAsAPeerTakesToWakeUpAfterAYieldHasCostATimeSlice) {
  Pacing pacing = pacing_of(Pacing::kFewestWithCores, 100ms);
  pacing.fewest = Pacing::kFewestWithCores;
  SteppingClock time{.step = 2us};
  EXPECT_EQ(checks_before_yield(pacing, time), 300);
  time.step = 3ms;  // a yield takes as long as a busy stranger's time slice
  EXPECT_EQ(checks_before_yield(pacing, time), 300);
  time.step = 2us;
  EXPECT_GE(checks_before_yield(pacing, time),
            300 + 99);  // 200 us. This yield was short: nobody else is there now
  EXPECT_EQ(checks_before_yield(pacing, time), 300);
}

TEST(Backoff, StopsSpinningLongerForAWhileIfThatDoesNotHelp) {
  Pacing pacing = pacing_of(Pacing::kFewestWithCores, 100ms);
  pacing.fewest = Pacing::kFewestWithCores;
  SteppingClock time{.step = 3ms};
  int longer = 0;
  constexpr int kWaits = 200;
  for (int wait = 0; wait < kWaits; ++wait) {
    time.step = 2us;
    const bool spins_longer = pacing.long_spins > 0;
    Backoff backoff(pacing, time.clock);
    int checks = 0;
    while (checks < 390 && backoff.next() == Step::again)
      ++checks;  // in vain, and the next yield costs a slice
    time.step = 3ms;
    static_cast<void>(backoff.next());
    longer += spins_longer;
  }
  EXPECT_GT(longer, 0);
  EXPECT_LT(longer, kWaits / 10);
}

TEST(Backoff, TakesAYieldToRanksThatSpinAWhileForNoTimeSlice) {
  Pacing pacing = pacing_of(Pacing::kFewestWithCores, 100ms);
  pacing.fewest = Pacing::kFewestWithCores;
  SteppingClock time{.step = 600us};  // three ranks that spin for 200 us each
  for (int wait = 0; wait < 10; ++wait) static_cast<void>(checks_before_yield(pacing, time));
  EXPECT_EQ(pacing.long_spins, 0);
}

TEST(Backoff, NeverSpinsLongerWithMoreRanksThanCores) {
  Pacing pacing = pacing_of(Pacing::kFewestSpins, 100ms);
  SteppingClock time{.step = 3ms};
  EXPECT_EQ(checks_before_yield(pacing, time), 16);
  time.step = 2us;
  EXPECT_EQ(checks_before_yield(pacing, time), 16);
}

TEST(Backoff, CountsTheCoresOfThisProcess) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_LE(available_cores(), 1 << 16);
}

/// A wait until it sleeps, or until it has yielded once.
Step first_pause(Pacing& pacing, const EndpointClock& clock, bool is_woken = true) {
  Backoff backoff(pacing, clock);
  Step step = backoff.next(0, is_woken);
  while (step == Step::again) step = backoff.next(0, is_woken);
  return step;
}

/// Of a rank that shares cores.
Pacing crowded_pacing(std::uint64_t ranks_of_core = 2) {
  Pacing pacing = pacing_of(16, 1s);
  pacing.arrivals_wake = true;
  pacing.share_core(ranks_of_core);
  return pacing;
}

/// A wait that yields once, for so long.
void yield_for(std::chrono::nanoseconds away, Pacing& pacing, SteppingClock& time) {
  Backoff backoff(pacing, time.clock);
  time.step = away;
  Step step = backoff.next(0, true);
  while (step == Step::again) step = backoff.next(0, true);
  EXPECT_EQ(step, Step::yielded);
  time.step = 10us;
}
void lose_slice(Pacing& pacing, SteppingClock& time) { yield_for(4ms, pacing, time); }

/// For how long waits sleep at once.
std::chrono::nanoseconds sleeps_for(Pacing& pacing, SteppingClock& time) {
  const auto began = time.at;
  for (int wait = 0; wait < 1'000'000 && first_pause(pacing, time.clock) == Step::sleep; ++wait) {
  }
  return time.at - began;
}

TEST(Backoff, SleepsAtOnceForAWhileAfterAYieldHasCostATimeSlice) {
  Pacing pacing = crowded_pacing();
  SteppingClock time{.step = 10us, .at = Clock::time_point(1h)};
  EXPECT_EQ(first_pause(pacing, time.clock), Step::yielded);
  lose_slice(pacing, time);
  EXPECT_NEAR(sleeps_for(pacing, time) / 1us, 2'000, 100);
  EXPECT_EQ(pacing.spins, Pacing::kFewestSpins)
      << "a longer spin would keep the core from those who are waited for";
  EXPECT_EQ(first_pause(pacing, time.clock), Step::yielded);
}

TEST(Backoff, SleepsForLongerIfYieldsStillCostTimeSlices) {
  Pacing pacing = crowded_pacing();
  SteppingClock time{.step = 10us, .at = Clock::time_point(1h)};
  for (const int milliseconds : {2, 8, 32, 128, 256, 256}) {
    lose_slice(pacing, time);
    EXPECT_NEAR(sleeps_for(pacing, time) / 1us, milliseconds * 1000, 100);
  }
  time.at += 1s;  // yields have cost nothing since
  lose_slice(pacing, time);
  EXPECT_NEAR(sleeps_for(pacing, time) / 1us, 2'000, 100);
}

// A peer that computes for some ms, in the middle of an operation of many steps.
TEST(Backoff, YieldsAgainInTheSameWaitAfterASlice) {
  Pacing pacing = crowded_pacing();
  SteppingClock time{.step = 4ms, .at = Clock::time_point(1h)};
  Backoff backoff(pacing, time.clock);
  const auto pause = [&] {
    backoff.restart_after_step();
    Step step = backoff.next(0, true);
    while (step == Step::again) step = backoff.next(0, true);
    return step;
  };
  EXPECT_EQ(pause(), Step::yielded);
  time.step = 10us;
  const auto lost = time.at;
  EXPECT_EQ(pause(), Step::sleep);
  for (int step = 0; step < 1000 && pause() == Step::sleep; ++step) {
  }
  EXPECT_NEAR((time.at - lost) / 1us, 2'000, 100);
  EXPECT_EQ(pause(), Step::yielded);
}

TEST(Backoff, DoesNotSleepForLongerOnAccountOfSlicesNowAndThen) {
  Pacing pacing = crowded_pacing();
  SteppingClock time{.step = 10us, .at = Clock::time_point(1h)};
  for (int pulse = 0; pulse < 10; ++pulse) {
    lose_slice(pacing, time);
    EXPECT_EQ(pacing.spell, Pacing::kShortestSpell);
    time.at += 16ms;
  }
}

TEST(Backoff, YieldsAllTheSameWithACoreOfItsOwn) {
  Pacing pacing = crowded_pacing();
  SteppingClock time{.step = 10us, .at = Clock::time_point(1h)};
  lose_slice(pacing, time);
  pacing.fewest = Pacing::kFewestWithCores;
  EXPECT_EQ(first_pause(pacing, time.clock), Step::yielded);
}

TEST(Backoff, YieldsAllTheSameWhereNothingWakesIt) {
  Pacing pacing = crowded_pacing();
  SteppingClock time{.step = 10us, .at = Clock::time_point(1h)};
  lose_slice(pacing, time);
  EXPECT_EQ(first_pause(pacing, time.clock, false), Step::yielded) << "memory may change without an arrival";
  EXPECT_EQ(first_pause(pacing, time.clock), Step::sleep);
  pacing.arrivals_wake = false;
  EXPECT_EQ(first_pause(pacing, time.clock), Step::yielded) << "the conduit cannot be slept on";
}

// Yields to many ranks take long, and take them nothing if nobody else runs.
TEST(Backoff, AYieldToManyRanksMayTakeLonger) {
  SteppingClock time{.step = 10us, .at = Clock::time_point(1h)};
  Pacing few = crowded_pacing(2);
  Pacing many = crowded_pacing(8);
  for (Pacing* pacing : {&many, &few}) yield_for(2ms, *pacing, time);
  EXPECT_EQ(first_pause(few, time.clock), Step::sleep);
  EXPECT_EQ(first_pause(many, time.clock), Step::yielded);
}

TEST(Backoff, YieldsAllTheSameAmongSoManyRanksThatAYieldToAllIsASlice) {
  SteppingClock time{.step = 10us, .at = Clock::time_point(1h)};
  for (const std::uint64_t beyond : {0, 1}) {
    Pacing pacing = crowded_pacing(Pacing::kMostThatSleep + beyond);
    lose_slice(pacing, time);
    EXPECT_EQ(first_pause(pacing, time.clock), beyond == 0 ? Step::sleep : Step::yielded);
  }
}

// A thread that keeps the core for itself: the first yield pays for it, those after it do not.
TEST(Backoff, LearnsThatYieldsCostTimeSlices) {
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &before)) {
      CPU_SET(core, &one);
      break;
    }
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);  // a new thread inherits it
  std::atomic<bool> ends{false};
  std::thread busy([&ends] {
    while (!ends.load(std::memory_order_relaxed)) {
    }
  });
  Pacing pacing = pacing_of(16, 1s);
  pacing.arrivals_wake = true;
  const auto until = Clock::now() + 10s;
  int yields = 0;
  while (pacing.spell == 0ns && Clock::now() < until) {
    if (first_pause(pacing, kSystemClock) == Step::yielded) ++yields;
  }
  EXPECT_EQ(pacing.spell, Pacing::kShortestSpell) << yields << " yields were cheap";
  ends = true;
  busy.join();
  ::sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace aqueduct::core
