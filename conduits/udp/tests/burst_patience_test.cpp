#include "conduits/udp/protocol/burst_patience.hpp"

#include <gtest/gtest.h>

namespace aqueduct::conduits::udp {
namespace {

/// A message waits for `wait`, of a series that begins at `now`.
void hold(BurstPatience& patience, Time now, Time wait) {
  EXPECT_FALSE(patience.holds());
  patience.held(now);
  EXPECT_TRUE(patience.holds());
  patience.left(now + wait);
  EXPECT_FALSE(patience.holds());
}

/// How many messages leave at once before one waits again.
int spell(BurstPatience& patience) {
  int messages = 0;
  for (; !patience.waits(); ++messages) patience.left_at_once();
  return messages;
}

TEST(UdpBurstPatience, LastsWhileNothingWaitsForLong) {
  BurstPatience patience;
  for (Time now = kSecond; now < 2 * kSecond; now += 10 * kMillisecond) {
    hold(patience, now, 20 * kMicrosecond);
    EXPECT_TRUE(patience.waits());
  }
  patience.left(3 * kSecond);  // nothing waited
  EXPECT_TRUE(patience.waits());
}

TEST(UdpBurstPatience, EndsForLongerEachTimeThatAMessageHasWaitedTooLong) {
  BurstPatience patience;
  int expected = 64;
  for (int time = 0; time < 10; ++time) {
    hold(patience, (time + 1) * kSecond, kMillisecond);
    EXPECT_EQ(spell(patience), expected);
    expected = expected < 4096 ? 2 * expected : 4096;
  }
  hold(patience, 20 * kSecond, kMicrosecond);
  EXPECT_TRUE(patience.waits());
  hold(patience, 21 * kSecond, kMillisecond);
  EXPECT_EQ(spell(patience), 64) << "the program had changed its ways";
}

/// The program posts so many messages and then makes progress.
void post(BurstPatience& patience, int messages) {
  for (int i = 0; i < messages; ++i) patience.posted();
  patience.progressed();
}

TEST(UdpBurstPatience, HoldsTheFirstMessageAfterSeveralLongSeriesInARow) {
  BurstPatience patience;
  for (int time = 0; time < 4; ++time) {
    EXPECT_FALSE(patience.expects_more()) << time;
    post(patience, 8);
    patience.progressed();  // progress without messages between them changes nothing
  }
  EXPECT_TRUE(patience.expects_more());
  hold(patience, kSecond, kMillisecond);
  EXPECT_FALSE(patience.expects_more()) << "one has waited for too long";
  EXPECT_EQ(spell(patience), 64);
  EXPECT_TRUE(patience.expects_more());
  post(patience, 7);
  EXPECT_FALSE(patience.expects_more()) << "a short series ends it";
}

}  // namespace
}  // namespace aqueduct::conduits::udp
