// Requirements HT-18 and HG-08: a table of ratios ends with both means, the least and the greatest.

#include "tools/aqperf/report/fair_means.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace aqueduct::perf {
namespace {

TEST(FairMeans, AreThoseOfAllSizes) {
  const std::vector<RatioAt> ratios{{8, 2.0}, {16, 0.5}, {32, 1.0}, {64, 4.0}};
  const FairMeans means = fair_means(ratios);
  EXPECT_EQ(means.sizes, 4u);
  EXPECT_DOUBLE_EQ(means.arithmetic, 7.5 / 4);
  EXPECT_NEAR(means.geometric, 1.41421356, 1e-8);  // the fourth root of 4
  EXPECT_EQ(means.least.bytes, 16u);
  EXPECT_EQ(means.least.ratio, 0.5);
  EXPECT_EQ(means.most.bytes, 64u);
  EXPECT_EQ(means.most.ratio, 4.0);
}

// Twice as fast at one size and half as fast at another is no gain, though the arithmetic mean of either view says so.
TEST(FairMeans, TheGeometricOneIsTheSameFromBothSides) {
  const std::vector<RatioAt> ratios{{8, 2.0}, {16, 0.5}};
  EXPECT_DOUBLE_EQ(fair_means(ratios).geometric, 1.0);
  EXPECT_DOUBLE_EQ(fair_means(ratios).arithmetic, 1.25);
}

TEST(FairMeans, LeaveOutWhatCouldNotBeMeasured) {
  const std::vector<RatioAt> ratios{{8, 0.0}, {16, 3.0}, {32, -1.0}};
  const FairMeans means = fair_means(ratios);
  EXPECT_EQ(means.sizes, 1u);
  EXPECT_DOUBLE_EQ(means.arithmetic, 3.0);
  EXPECT_EQ(means.least.bytes, 16u);
  EXPECT_EQ(words_for(means, "median / raw"), "") << "one size needs no mean";
  EXPECT_EQ(words_for(fair_means({}), "median / raw"), "");
}

TEST(FairMeans, AreSaidWithTheSizesOfTheExtremes) {
  const std::vector<RatioAt> ratios{{8, 2.0}, {16, 0.5}};
  EXPECT_EQ(
      words_for(fair_means(ratios), "median / raw"),
      "median / raw over 2 sizes: arithmetic mean 1.250, geometric mean 1.000, least 0.500 (at 16 bytes), "
      "greatest 2.000 (at 8 bytes)");
}

}  // namespace
}  // namespace aqueduct::perf
