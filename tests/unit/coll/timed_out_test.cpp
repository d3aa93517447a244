#include "coll/engine/timed_out.hpp"

#include <gtest/gtest.h>

namespace aqueduct::coll {
namespace {

TEST(TimedOutCalls, HoldBackThoseBehindThemUntilTheyAreOver) {
  TimedOut calls;
  core::Op third, fifth;
  calls.add(2);
  calls.add(4);
  EXPECT_FALSE(calls.any_before(2));
  EXPECT_TRUE(calls.any_before(3));
  calls.hold(5, fifth);
  calls.hold(3, third);
  EXPECT_EQ(calls.take_free(), nullptr);
  EXPECT_FALSE(calls.over(3)) << "it had not timed out";
  EXPECT_TRUE(calls.over(2));
  EXPECT_EQ(calls.take_free(), &third);
  EXPECT_EQ(calls.take_free(), nullptr) << "call 4 runs";
  EXPECT_TRUE(calls.over(4));
  EXPECT_FALSE(calls.empty());
  EXPECT_EQ(calls.take_free(), &fifth);
  EXPECT_EQ(calls.take_free(), nullptr);
  EXPECT_TRUE(calls.empty());
}

}  // namespace
}  // namespace aqueduct::coll
