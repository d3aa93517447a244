#include "conduits/udp/protocol/rtt.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace aqueduct::conduits::udp {
namespace {

constexpr Time kLeast = 200 * kMicrosecond;
constexpr Time kInitial = 10 * kMillisecond;

TEST(UdpRoundTrip, BeforeTheFirstSampleTakesTheInitial) {
  const RoundTrip rtt(kLeast, kInitial);
  EXPECT_FALSE(rtt.known());
  EXPECT_EQ(rtt.smoothed(), kInitial);
  EXPECT_EQ(rtt.least(), kInitial);
  EXPECT_EQ(rtt.timeout(), 3 * kInitial);
}

// RFC 6298, 2.2 and 2.3, computed by hand.
TEST(UdpRoundTrip, FollowsTheRules) {
  RoundTrip rtt(kLeast, kInitial);
  rtt.sample(8000'000, 0);
  EXPECT_TRUE(rtt.known());
  EXPECT_EQ(rtt.smoothed(), 8000'000);
  EXPECT_EQ(rtt.variation(), 4000'000);
  EXPECT_EQ(rtt.timeout(), 24000'000);
  rtt.sample(16000'000, 1);
  EXPECT_EQ(rtt.variation(), 5000'000);  // 3/4 x 4 ms + 1/4 x |8 ms - 16 ms|
  EXPECT_EQ(rtt.smoothed(), 9000'000);   // 7/8 x 8 ms + 1/8 x 16 ms
  EXPECT_EQ(rtt.timeout(), 29000'000);
  rtt.sample(1000'000, 2);
  EXPECT_EQ(rtt.variation(), 5750'000);
  EXPECT_EQ(rtt.smoothed(), 8000'000);
}

TEST(UdpRoundTrip, TheTimerStaysWithinItsBounds) {
  RoundTrip fast(kLeast, kInitial);
  for (int i = 0; i < 100; ++i) fast.sample(5 * kMicrosecond, i);
  EXPECT_EQ(fast.timeout(), kLeast);
  RoundTrip slow(kLeast, kInitial);
  slow.sample(50 * kSecond, 0);
  EXPECT_EQ(slow.timeout(), 60 * kSecond);
}

// Absurd samples count as the longest timeout, or as one nanosecond.
TEST(UdpRoundTrip, AnAbsurdSampleCountsAsTheNearestSensibleOne) {
  constexpr Time kLongest = 60 * kSecond;
  for (const auto& [sample, taken_for] :
       {std::pair{kNever, kLongest}, std::pair{kLongest + 1, kLongest}, std::pair{Time{0}, Time{1}},
        std::pair{Time{-1}, Time{1}}, std::pair{Time{INT64_MIN}, Time{1}}}) {
    SCOPED_TRACE(sample);
    RoundTrip absurd(kLeast, kInitial);
    RoundTrip sensible(kLeast, kInitial);
    for (const Time one : {4 * kMillisecond, sample, 4 * kMillisecond}) {
      absurd.sample(one, 0);
      sensible.sample(one == sample ? taken_for : one, 0);
      EXPECT_EQ(absurd.smoothed(), sensible.smoothed());
      EXPECT_EQ(absurd.variation(), sensible.variation());
      EXPECT_EQ(absurd.timeout(), sensible.timeout());
      EXPECT_EQ(absurd.least(), sensible.least());
    }
    EXPECT_EQ(absurd.least(), std::min(taken_for, 4 * kMillisecond));
  }
  RoundTrip first(kLeast, kInitial);
  first.sample(kNever, 0);
  EXPECT_EQ(first.smoothed(), kLongest);
  EXPECT_EQ(first.timeout(), kLongest);
  RoundTrip shortest(kLeast, kInitial);
  shortest.sample(INT64_MIN, 0);
  EXPECT_EQ(shortest.smoothed(), 1);
  EXPECT_EQ(shortest.timeout(), kLeast);
}

TEST(UdpRoundTrip, AbsurdBoundsCountAsTheNearestSensibleOnes) {
  EXPECT_EQ(RoundTrip(0, 0).smoothed(), 1);
  EXPECT_EQ(RoundTrip(0, 0).timeout(), 1);
  EXPECT_EQ(RoundTrip(kNever, kNever).smoothed(), 60 * kSecond);
  EXPECT_EQ(RoundTrip(kNever, kNever).timeout(), 60 * kSecond);
}

TEST(UdpRoundTrip, BackOffDoublesUpToAMinuteAndEndsWithAnAnswer) {
  RoundTrip rtt(kLeast, kInitial);
  rtt.sample(kMillisecond, 0);
  Time expected = 3 * kMillisecond;
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(rtt.timeout(), expected);
    rtt.back_off();
    expected = std::min(2 * expected, 60 * kSecond);
  }
  rtt.sample(kMillisecond, 1);
  EXPECT_EQ(rtt.timeout(), 60 * kSecond);  // only recovered() says that the path answers again
  rtt.recovered();
  EXPECT_LT(rtt.timeout(), 3 * kMillisecond);
  rtt.back_off();
  EXPECT_LT(rtt.timeout(), 6 * kMillisecond);
}

TEST(UdpRoundTrip, TheFirstThreeTimeoutsOfAFirstContactAreConstant) {
  RoundTrip rtt(kLeast, kInitial);
  for (int i = 0; i < 3; ++i) {
    rtt.back_off();
    ASSERT_EQ(rtt.timeout(), 3 * kInitial);
    rtt.recovered();  // does not give the retries back
  }
  rtt.back_off();
  EXPECT_EQ(rtt.timeout(), 6 * kInitial);
  rtt.back_off();
  EXPECT_EQ(rtt.timeout(), 12 * kInitial);
}

TEST(UdpRoundTrip, AMeasuredRoundTripEndsTheConstantTimeouts) {
  RoundTrip rtt(kLeast, kInitial);
  rtt.back_off();
  rtt.sample(kMillisecond, 0);
  rtt.back_off();
  EXPECT_EQ(rtt.timeout(), 6 * kMillisecond);
}

TEST(UdpRoundTrip, ForgetsTheLeastAfterTenSeconds) {
  RoundTrip rtt(kLeast, kInitial);
  rtt.sample(kMillisecond, 0);
  for (Time now = 0; now <= 20 * kSecond; now += 10 * kMillisecond) {
    rtt.sample(2 * kMillisecond, now);
    if (now < 8 * kSecond) {
      ASSERT_EQ(rtt.least(), kMillisecond) << now;
    }
    if (now >= 10 * kSecond) {
      ASSERT_EQ(rtt.least(), 2 * kMillisecond) << now;
    }
  }
  rtt.sample(3 * kMillisecond, 1000 * kSecond);  // after a long silence all older samples expire
  EXPECT_EQ(rtt.least(), 3 * kMillisecond);
}

}  // namespace
}  // namespace aqueduct::conduits::udp
