#include "coll/engine/said_calls.hpp"

#include <gtest/gtest.h>

namespace aqueduct::coll {
namespace {

constexpr std::size_t kKept = 128;

TEST(SaidCalls, KnowTheirMarksAndThatTheOthersWereSilent) {
  SaidCalls calls(kKept);
  EXPECT_EQ(calls.mark_of(1), SaidCalls::kSilent);
  calls.say(2, 20);
  calls.say(3, 30);
  calls.say(500, 50);
  EXPECT_EQ(calls.mark_of(2), 20u);
  EXPECT_EQ(calls.mark_of(3), 30u);
  EXPECT_EQ(calls.mark_of(500), 50u);
  for (const std::uint32_t silent : {1u, 4u, 499u, 501u})
    EXPECT_EQ(calls.mark_of(silent), SaidCalls::kSilent);
}

TEST(SaidCalls, ForgetWhatIsBehindTooManySaidOnesOnly) {
  SaidCalls calls(kKept);
  const auto last = static_cast<std::uint32_t>(3 * kKept);
  for (std::uint32_t number = 3; number <= last; number += 3) calls.say(number, number + 1);
  EXPECT_EQ(calls.mark_of(1), SaidCalls::kSilent) << "as many as are kept: none is forgotten";
  EXPECT_EQ(calls.mark_of(3), 4u);
  calls.say(last + 3, 7);
  EXPECT_FALSE(calls.mark_of(1));
  EXPECT_FALSE(calls.mark_of(3));
  EXPECT_FALSE(calls.mark_of(5)) << "silent, but it could have been said";
  EXPECT_EQ(calls.mark_of(6), 7u);
  EXPECT_EQ(calls.mark_of(7), SaidCalls::kSilent);
}

TEST(SaidCalls, CountOnWhereTheNumbersBeginAnew) {
  SaidCalls calls(kKept);
  calls.say(0xffff'fffe, 5);
  calls.say(1, 6);
  EXPECT_EQ(calls.mark_of(0xffff'fffe), 5u);
  EXPECT_EQ(calls.mark_of(0xffff'ffff), SaidCalls::kSilent);
  EXPECT_EQ(calls.mark_of(1), 6u);
}

}  // namespace
}  // namespace aqueduct::coll
