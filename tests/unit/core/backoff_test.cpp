#include "core/backoff.hpp"

#include <gtest/gtest.h>

#include <chrono>

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
  Backoff backoff(pacing);
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
  Backoff backoff(pacing);
  Step step = backoff.next();
  for (int i = 0; step == Step::again && i < 1'000'000; ++i) step = backoff.next();
  EXPECT_EQ(step, Step::sleep);
}

TEST(Backoff, AWaitThatDidNotEndWhileSpinningShortensTheNextOne) {
  Pacing pacing = pacing_of(1000, 1ms);
  for (int wait = 0; wait < 100; ++wait) {
    Backoff backoff(pacing);
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
    Backoff backoff(pacing);
    const auto until = Clock::now() + 10s;
    while (backoff.next() != Step::sleep && Clock::now() < until) {
    }
  }
  EXPECT_EQ(pacing.spins, Pacing::kFewestWithCores);
}

TEST(Backoff, NeverLearnsBeyondItsBounds) {
  Pacing pacing = pacing_of(Pacing::kMostSpins, 1ms);
  for (int wait = 0; wait < 1000; ++wait) {
    Backoff backoff(pacing);
    for (std::uint32_t look = 0; look < pacing.spins; ++look) ASSERT_EQ(backoff.next(), Step::again);
  }
  EXPECT_LE(pacing.spins, Pacing::kMostSpins);
  EXPECT_GE(pacing.spins, Pacing::kFewestSpins);
}

TEST(Backoff, CountsTheCoresOfThisProcess) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_LE(available_cores(), 1 << 16);
}

}  // namespace
}  // namespace aqueduct::core
