// What a choice costs beside the others, by samples that the test supplies.

#include "coll/tune/regret.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace aqueduct::coll {
namespace {

TEST(Regret, IsWhatTheFastestOtherWouldHaveSaved) {
  const std::vector<Samples> series{
      {110, 110, 110, 110}, {110, 110, 110, 110}, {120, 120, 120, 120}, {100, 100, 100, 100}};
  const Regret found = regret_of(series);
  EXPECT_EQ(found.best, 1u);
  EXPECT_NEAR(found.regret, 0.1, 1e-9);
  EXPECT_EQ(found.noise, 0);
}

TEST(Regret, IsNoneIfNothingElseWasFaster) {
  const std::vector<Samples> series{{100, 100}, {100, 100}, {101, 101}};
  const Regret found = regret_of(series);
  EXPECT_EQ(found.best, 1u);
  EXPECT_EQ(found.regret, 0);
  EXPECT_EQ(regret_of(std::vector<Samples>{{100, 100}, {100, 100}}).best, 0u) << "there is no other";
}

// One that looks fastest in the even repetitions by luck is judged by the odd ones.
TEST(Regret, IsNotTheLuckOfOneOfMany) {
  const std::vector<Samples> series{
      {100, 100, 100, 100}, {100, 100, 100, 100}, {50, 100, 50, 100}, {99, 50, 99, 50}};
  const Regret found = regret_of(series);
  EXPECT_EQ(found.best, 0u);
  EXPECT_EQ(found.regret, 0);
}

TEST(Regret, NoiseIsHowTheChoiceDiffersFromItself) {
  const std::vector<Samples> series{{110, 110, 110}, {100, 100, 100}, {200, 200, 200}};
  EXPECT_NEAR(regret_of(series).noise, 0.1, 1e-9);
  const std::vector<Samples> turned{{100, 100, 100}, {110, 110, 110}, {200, 200, 200}};
  EXPECT_NEAR(regret_of(turned).noise, 0.1, 1e-9);
}

TEST(Regret, OfTimesTooShortForTheClockIsNone) {
  const std::vector<Samples> series{{0, 0}, {0, 0}, {0, 0}};
  EXPECT_EQ(regret_of(series).regret, 0);
  EXPECT_EQ(regret_of(series).noise, 0);
}

}  // namespace
}  // namespace aqueduct::coll
