#include "tools/aqperf/report/smooth.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace aqueduct::perf {
namespace {

TEST(Smoothness, IsNotSaidOfOneSize) { EXPECT_EQ(smoothness_of(std::vector<RateAt>{{64, 1.0}}), ""); }

TEST(Smoothness, AllowsTenPerCent) {
  const std::vector<RateAt> rates{{64, 0.91}, {128, 1.0}, {256, 0.5}, {512, 0.1}};
  EXPECT_EQ(smoothness_of(rates), "smooth: no size is more than 10 % slower than the next larger one");
}

TEST(Smoothness, NamesEachDent) {
  const std::vector<RateAt> rates{{64, 0.8}, {128, 1.0}, {256, 0.5}, {512, 0.1}, {1024, 0.2}};
  EXPECT_EQ(smoothness_of(rates),
            "not smooth: 64 bytes are 20 % slower than 128; 512 bytes are 50 % slower than 1024");
}

}  // namespace
}  // namespace aqueduct::perf
