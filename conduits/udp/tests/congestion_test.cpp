#include "conduits/udp/protocol/congestion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace aqueduct::conduits::udp {
namespace {

constexpr std::size_t kPacket = 1472;
constexpr std::size_t kBurst = 65'000;

TEST(UdpCongestion, BeginsWithTenPacketsAndNoPacing) {
  const Congestion congestion(kPacket, kBurst);
  EXPECT_EQ(congestion.window(), 10 * kPacket);
  EXPECT_EQ(congestion.rate(), Congestion::kUnlimited);
  EXPECT_EQ(congestion.bandwidth(), 0);
  EXPECT_EQ(congestion.quantum(), kBurst);
  EXPECT_EQ(std::string(congestion.phase()), "startup");
}

TEST(UdpCongestion, FollowsThePacketSize) {
  Congestion congestion(kPacket, kBurst);
  congestion.set_packet(8968);
  EXPECT_EQ(congestion.window(), 10U * 8968);
  congestion.set_packet(60'000);
  EXPECT_EQ(congestion.quantum(), 120'000U);  // two packets, although a burst has fewer bytes
}

TEST(UdpCongestion, LearnsFromOneRoundTrip) {
  Congestion congestion(kPacket, kBurst);
  const RateSnapshot snapshot = congestion.sent(0, kPacket, 0);
  congestion.acknowledged(kMillisecond, kPacket, 0, snapshot);
  congestion.acknowledged_round(kMillisecond, kMillisecond, kMillisecond, 0, 0);
  EXPECT_DOUBLE_EQ(congestion.bandwidth(), 1472e3);
  EXPECT_EQ(congestion.window(), 10 * kPacket);  // enough for such a rate
  // One packet says little, so the initial window may still leave within a round trip.
  EXPECT_GT(congestion.rate(), 2.5 * 10 * 1472e3);
  EXPECT_LT(congestion.rate(), 3 * 10 * 1472e3);
}

TEST(UdpCongestion, ATimeoutLastsUntilTheNextAnswer) {
  Congestion congestion(kPacket, kBurst);
  const RateSnapshot snapshot = congestion.sent(0, kPacket, 0);
  congestion.timed_out(kSecond);
  congestion.timed_out(2 * kSecond);
  EXPECT_EQ(congestion.window(), 4 * kPacket);
  congestion.acknowledged_round(2 * kSecond, 0, 0, kPacket, 0);  // acknowledges nothing new
  EXPECT_EQ(congestion.window(), 4 * kPacket);
  congestion.acknowledged(3 * kSecond, kPacket, 2 * kSecond, snapshot);
  congestion.acknowledged_round(3 * kSecond, kSecond, kSecond, 0, 0);
  EXPECT_GE(congestion.window(), 10 * kPacket);
}

TEST(UdpCongestion, TwoRoundsOfHeavyLossBoundTheWindow) {
  LossBound bound;
  bound.note(70, 30, 1000, 5000, 50, true);
  EXPECT_EQ(bound.bytes(), LossBound::kNone);  // one round may be chance
  EXPECT_TRUE(bound.noticeable());
  bound.note(70, 30, 970, 5000, 50, true);
  EXPECT_TRUE(bound.excessive());
  EXPECT_EQ(bound.bytes(), 850U);
  bound.note(100, 20, 500, 5000, 50, true);  // a sixth is not heavy
  EXPECT_FALSE(bound.excessive());
  EXPECT_GT(bound.bytes(), 850U);
  for (int i = 0; i < 20; ++i) bound.note(100, 0, 500, 5000, 50, true);
  EXPECT_EQ(bound.bytes(), LossBound::kNone);
  EXPECT_FALSE(bound.noticeable());
}

TEST(UdpCongestion, AFewLostPacketsAreNotHeavyLoss) {
  LossBound bound;
  for (int i = 0; i < 2; ++i) bound.note(4, 6, 100, 5000, 50, true);
  for (int i = 0; i < 9; ++i) bound.note(40, 60, 100, 5000, 50, false);  // one long round
  EXPECT_EQ(bound.bytes(), LossBound::kNone);
  for (int i = 0; i < 100; ++i) bound.note(40, 60, 100, 5000, 50, true);
  EXPECT_EQ(bound.bytes(), 50U);  // not below `enough`
}

// Random calls with random numbers: the results stay within sensible bounds.
TEST(UdpCongestion, NeverAnswersNonsense) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    Congestion congestion(seed == 0 ? 0 : kPacket, seed == 1 ? 0 : kBurst, seed);
    Time now = 0;
    for (int step = 0; step < 5000; ++step) {
      if (random() % 4 == 0) now += static_cast<Time>(random() % (1U << random() % 32));  // often by 0
      const std::size_t bytes = random() % 3 == 0 ? 0 : random() % 65'536;
      const RateSnapshot snapshot = congestion.sent(now, bytes, random() % 3 == 0 ? 0 : random() % 1'000'000);
      const Time sent_at = now;
      if (random() % 2 == 0) now += static_cast<Time>(random() % 100'000);
      if (random() % 8 != 0) congestion.acknowledged(now, bytes, sent_at, snapshot);
      const Time rtt = random() % 4 == 0 ? 0 : now - sent_at;
      congestion.acknowledged_round(now, rtt, random() % 4 == 0 ? 0 : rtt, random() % 100'000,
                                    random() % 2 == 0 ? 0 : random() % 100'000);
      if (random() % 64 == 0) congestion.timed_out(now);
      if (random() % 16 == 0) congestion.application_limited(random() % 10'000);
      ASSERT_TRUE(std::isfinite(congestion.rate())) << step;
      ASSERT_GT(congestion.rate(), 0) << step;
      ASSERT_LE(congestion.rate(), 2 * 2.885 * 1e18) << step;
      ASSERT_GE(congestion.window(), seed == 0 ? 4 : 4 * kPacket) << step;
      ASSERT_GE(congestion.quantum(), seed == 0 ? 2 : 2 * kPacket) << step;
      ASSERT_LE(congestion.quantum(), std::max(kBurst, 2 * kPacket)) << step;
    }
  }
}

}  // namespace
}  // namespace aqueduct::conduits::udp
