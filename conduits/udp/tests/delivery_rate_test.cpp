#include "conduits/udp/protocol/delivery_rate.hpp"

#include <gtest/gtest.h>

namespace aqueduct::conduits::udp {
namespace {

TEST(UdpDeliveryRate, IsBytesOverTime) {
  DeliveryRate rate;
  const RateSnapshot first = rate.sent(0, 0);
  const RateSnapshot second = rate.sent(100, 1000);
  rate.acknowledged(1000, 1000, 0, first);
  const RateSample one = rate.take_sample(0);
  EXPECT_DOUBLE_EQ(one.rate, 1e9);  // 1000 bytes in 1000 ns
  EXPECT_EQ(one.bytes, 1000U);
  rate.acknowledged(1100, 1000, 100, second);
  EXPECT_DOUBLE_EQ(rate.take_sample(0).rate, 2000 * 1e9 / 1100);
  EXPECT_EQ(rate.delivered(), 2000U);
}

TEST(UdpDeliveryRate, AnswersInABunchDoNotLookFast) {
  DeliveryRate rate;
  RateSnapshot marks[10];
  for (int i = 0; i < 10; ++i) marks[i] = rate.sent(i * 1000, static_cast<std::uint64_t>(i) * 1000);
  for (int i = 0; i < 10; ++i) rate.acknowledged(10'000, 1000, i * 1000, marks[i]);
  EXPECT_DOUBLE_EQ(rate.take_sample(0).rate, 1e9);
}

TEST(UdpDeliveryRate, NoTimeGivesNoRate) {
  DeliveryRate rate;
  const RateSnapshot snapshot = rate.sent(7, 0);
  rate.acknowledged(7, 1000, 7, snapshot);
  const RateSample sample = rate.take_sample(0);
  EXPECT_EQ(sample.rate, 0);
  EXPECT_EQ(sample.bytes, 1000U);
  EXPECT_EQ(rate.take_sample(0).bytes, 0U);  // nothing was acknowledged since
}

TEST(UdpDeliveryRate, LessThanTheLeastRoundTripIsAMistake) {
  DeliveryRate rate;
  rate.acknowledged(900, 1000, 0, rate.sent(0, 0));
  EXPECT_EQ(rate.take_sample(1000).rate, 0);
}

TEST(UdpDeliveryRate, IdleTimeIsNotCounted) {
  DeliveryRate rate;
  rate.acknowledged(1000, 1000, 0, rate.sent(0, 0));
  (void)rate.take_sample(0);
  const RateSnapshot later = rate.sent(kSecond, 0);
  rate.acknowledged(kSecond + 1000, 1000, kSecond, later);
  EXPECT_DOUBLE_EQ(rate.take_sample(0).rate, 1e9);
}

TEST(UdpDeliveryRate, KnowsWhoHadTooLittleToSend) {
  DeliveryRate rate;
  rate.application_limited(0);
  const RateSnapshot limited = rate.sent(0, 0);
  rate.acknowledged(1000, 1000, 0, limited);
  EXPECT_TRUE(rate.take_sample(0).application_limited);
  EXPECT_FALSE(rate.limited());
  const RateSnapshot full = rate.sent(1000, 0);
  rate.acknowledged(2000, 1000, 1000, full);
  EXPECT_FALSE(rate.take_sample(0).application_limited);
}

}  // namespace
}  // namespace aqueduct::conduits::udp
