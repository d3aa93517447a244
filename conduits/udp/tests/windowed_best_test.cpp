#include "conduits/udp/protocol/windowed_best.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

namespace aqueduct::conduits::udp {
namespace {

using Most = WindowedBest<int, std::greater<>>;

TEST(UdpWindowedBest, SaysTheWorstOfNothing) {
  const Most most(10, -1);
  EXPECT_TRUE(most.empty());
  EXPECT_EQ(most.best(), -1);
}

// best() covers at least four fifths of the window, and nothing older than the window.
TEST(UdpWindowedBest, IsBetweenTheBestOfPartAndOfAllOfTheWindow) {
  constexpr std::int64_t kWindow = 100;
  constexpr std::uint64_t kSeed = 5;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  Most most(kWindow, 0);
  std::vector<std::pair<std::int64_t, int>> all;
  std::int64_t now = -3;
  for (int step = 0; step < 3000; ++step) {
    now += static_cast<std::int64_t>(random() % (step % 100 == 0 ? 500 : 8));
    const int value = 1 + static_cast<int>(random() % 1000);
    all.emplace_back(now, value);
    most.add(value, now);
    int of_part = 0, of_all = 0;
    for (const auto& [at, was] : all) {
      if (at > now - kWindow * 4 / 5) of_part = std::max(of_part, was);
      if (at > now - kWindow) of_all = std::max(of_all, was);
    }
    ASSERT_GE(most.best(), of_part) << "step " << step;
    ASSERT_LE(most.best(), of_all) << "step " << step;
  }
}

TEST(UdpWindowedBest, AWindowShorterThanItsPartsStillForgets) {
  Most most(2, 0);
  most.add(9, 0);
  most.add(1, 100);
  EXPECT_EQ(most.best(), 1);
}

}  // namespace
}  // namespace aqueduct::conduits::udp
