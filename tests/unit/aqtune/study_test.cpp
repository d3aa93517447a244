// How good choices are, on small simulated networks. `aqtune --regret` is the whole study.

#include "tools/aqtune/study.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace aqueduct::aqtune {
namespace {

TEST(Study, CountsRegretAndEffort) {
  const StudiedKey key{"torus", 4, "broadcast", 8, {200, 100, 400}};
  EXPECT_DOUBLE_EQ(key.regret(1), 1.0);
  EXPECT_DOUBLE_EQ(key.regret(2), 0.0);
  EXPECT_DOUBLE_EQ(key.regret(9), 0.0);
  EXPECT_DOUBLE_EQ(key.effort(1), 200.0 / 700);
  // 17 calls of each, and 40 more of the best two; the exhaustive search has 57 calls of each.
  EXPECT_DOUBLE_EQ(key.effort(3), (17.0 * 700 + 40 * 300) / (57 * 700));
}

// The limits of the requirements, with few machines and small teams.
TEST(Study, FindsChoicesWithinTheLimits) {
  StudyOptions options;
  options.models = 6;
  options.ranks = {0};
  options.keys = 3;
  const std::vector<StudiedKey> keys = study(options);
  ASSERT_EQ(keys.size(), 6u * 3 * 3);
  const auto p95 = [&](std::size_t tried) {
    std::vector<double> regrets;
    for (const StudiedKey& one : keys) {
      EXPECT_FALSE(one.times.empty()) << one.operation;
      regrets.push_back(one.regret(tried));
    }
    std::sort(regrets.begin(), regrets.end());
    return regrets[regrets.size() * 95 / 100];
  };
  EXPECT_LE(p95(1), 0.25) << "stage 0";
  EXPECT_LE(p95(options.searched), 0.05) << "stage 1";
  // The same seed, the same study.
  const std::vector<StudiedKey> again = study(options);
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(again[i].times, keys[i].times);
}

}  // namespace
}  // namespace aqueduct::aqtune
