#include "sim/link_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace aqueduct::sim {
namespace {

TEST(LinkTimes, GiveAMessageTheFirstIdleTime) {
  LinkTimes times(2);
  const auto take = [&](coll::Picoseconds head, coll::Picoseconds length) {
    const LinkTimes::Taken taken = times.take(1, 0, head, length);
    return std::pair{taken.begin, taken.end};
  };
  using Pair = std::pair<coll::Picoseconds, coll::Picoseconds>;
  EXPECT_EQ(take(100, 50), (Pair{100, 150}));
  EXPECT_EQ(take(10, 20), (Pair{10, 30}));   // comes earlier
  EXPECT_EQ(take(20, 80), (Pair{30, 160}));  // 30 to 100, and what is left behind 150
  EXPECT_EQ(take(0, 0), (Pair{0, 0}));       // nothing to carry
  EXPECT_EQ(take(0, 11), (Pair{0, 161}));    // 0 to 10
  EXPECT_EQ(take(50, 1), (Pair{161, 162}));
  EXPECT_EQ(times.take(0, 0, 7, 1).begin, 7u);  // another link
}

// Beside a link whose moments are counted one by one.
TEST(LinkTimes, AreThoseOfALinkCountedMomentByMoment) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 chance(seed);
  for (int round = 0; round < 50; ++round) {
    LinkTimes times(1);
    std::vector<bool> taken(20'000);
    std::size_t now = 0;
    for (int i = 0; i < 200; ++i) {
      now += chance() % 20;
      std::size_t at = now + chance() % 300;
      std::size_t left = chance() % 25;
      const LinkTimes::Taken got = times.take(0, now, at, left);
      while (taken[at]) ++at;
      ASSERT_EQ(got.begin, at) << i;
      for (; left > 0; ++at) {
        left -= taken[at] ? 0 : 1;
        taken[at] = true;
      }
      ASSERT_EQ(got.end, at) << i;
    }
  }
}

}  // namespace
}  // namespace aqueduct::sim
