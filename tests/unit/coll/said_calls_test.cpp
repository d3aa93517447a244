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

// A member that stays where it is, and may be any number of calls behind at first.
TEST(SaidCalls, AreKeptAsLongAsAMemberIsBehindThem) {
  for (const std::uint32_t behind : {1u, 31u, 32u, 60u}) {
    SaidCalls calls(kKept);
    for (std::uint32_t number = 1; number <= behind; ++number) calls.say(number, number + 1);
    for (std::uint32_t number = behind + 1; number <= 2000; ++number) {
      calls.say(number, number + 1);
      if (calls.is_due()) calls.keep_from(1);
      ASSERT_EQ(calls.mark_of(1), 2u) << number << ", with room for " << calls.room();
      ASSERT_EQ(calls.mark_of(number / 2 + 1), number / 2 + 2) << number;
    }
    EXPECT_EQ(calls.mark_of(2001), SaidCalls::kSilent);
  }
}

// Between two looks a member may say as many calls on the board as fit into a quarter of the room.
TEST(SaidCalls, AreKeptWithCallsOnTheBoardBetweenTheLooks) {
  SaidCalls calls(kKept);
  std::uint32_t number = 0;
  const auto say_next = [&] {
    ++number;
    calls.say(number, number + 1);
  };
  while (number < 2000) {
    say_next();
    if (calls.is_due()) calls.keep_from(1);
    for (std::size_t i = 0; i < kKept / 4; ++i) say_next();
    ASSERT_EQ(calls.mark_of(1), 2u) << number << ", with room for " << calls.room();
  }
}

TEST(SaidCalls, TakeNoMoreRoomIfNobodyIsBehindAndOnlySoMuchElse) {
  SaidCalls calls(kKept);
  for (std::uint32_t number = 1; number <= 10'000; ++number) {
    calls.say(number, number + 1);
    if (calls.is_due()) calls.keep_from(number - 1);
  }
  EXPECT_EQ(calls.room(), kKept);
  for (std::uint32_t number = 10'001; number <= 50'000; ++number) {
    calls.say(number, number + 1);
    if (calls.is_due()) calls.keep_from(10'000);
  }
  EXPECT_EQ(calls.room(), SaidCalls::kMost);
  EXPECT_FALSE(calls.mark_of(10'000)) << "none is kept for ever";
  EXPECT_FALSE(calls.mark_of(1)) << "it was forgotten before there was more room";
  EXPECT_EQ(calls.mark_of(50'000), 50'001u);
}

TEST(SaidCalls, AreForgottenAlsoWithMoreRoomThanCalls) {
  SaidCalls calls(kKept);
  for (std::uint32_t number = 1; number <= 2 * kKept; ++number) calls.say(number, number + 1);
  calls.keep_from(1);
  EXPECT_EQ(calls.room(), 2 * kKept);
  EXPECT_EQ(calls.mark_of(kKept + 1), kKept + 2);
  EXPECT_FALSE(calls.mark_of(kKept)) << "it was overwritten, and not silent";
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
