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
  EXPECT_DOUBLE_EQ(key.searched(1).regret, 1.0);
  EXPECT_DOUBLE_EQ(key.searched(1).effort, 5 * 200.0 / (40 * 700));
  // 5 calls of the best two, 3 of the other one. The exhaustive search has 40 calls of each.
  EXPECT_DOUBLE_EQ(key.searched(3).regret, 0.0);
  EXPECT_DOUBLE_EQ(key.searched(3).effort, (5.0 * 300 + 3 * 400) / (40 * 700));
  EXPECT_DOUBLE_EQ(key.searched(3).effort_of_calls, (5.0 * 300 + 3 * 400) / (5 * 700));
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
  EXPECT_LE(effort_of_search(keys, options), 10) << "percent of an exhaustive search's time";
  for (const double noise : {0.0, 0.1}) {
    options.noise = noise;
    EXPECT_LE(p95_of_stage(keys, options, 1), 5) << "stage 1, noise " << noise;
    EXPECT_LE(p95_of_stage(keys, options, 2), 5) << "stage 2, noise " << noise;
  }
  options.noise = 0;
  // The same seed, the same study.
  const std::vector<StudiedKey> again = study(options);
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(again[i].times, keys[i].times);
}

}  // namespace
}  // namespace aqueduct::aqtune
