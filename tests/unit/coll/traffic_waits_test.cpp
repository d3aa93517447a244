// Requirement HS-11: how often a rank waits for a flag, and how much memory teams have taken.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

Config config_of_waits(const std::string& algorithm) {
  Config config;
  EXPECT_TRUE(config.set("conduit", "smp"));
  EXPECT_TRUE(config.set("coll_broadcast", algorithm));
  return config;
}

std::uint64_t scratch_most(const Endpoint& ep) {
  const auto rows = ep.statistics_rows();
  const auto row = std::ranges::find(rows, std::string_view("collective_scratch_most"), &StatisticsRow::name);
  if (row == rows.end()) return ~std::uint64_t{0};
  EXPECT_EQ(row->unit, "bytes");
  return *row->counter;
}

TEST(CollWaits, AreCountedOnceForEachStageInWhichAFlagIsAwaited) {
  for (const std::string algorithm : {"flags-flat", "flags-tree"}) {
    auto job = Job::in_process(3, config_of_waits(algorithm));
    ASSERT_TRUE(job) << job.status().text();
    std::atomic<int> waiting{0};
    job->run_each([&](Endpoint& me) {
      auto team = me.world().dup();
      ASSERT_TRUE(team);
      ASSERT_TRUE(team->barrier());
      const auto before = coll_traffic(*team, 0);
      ASSERT_TRUE(before);
      std::uint64_t word = me.rank() + 1;
      // The root begins when the others have looked in vain.
      while (me.rank() == 0 && waiting.load() != 2) std::this_thread::yield();
      Event event = broadcast_nb(*team, std::span(&word, 1), 0, {.in = Sync::mine, .out = Sync::mine});
      for (int i = 0; i < 3; ++i) me.progress();
      if (me.rank() != 0) ++waiting;
      ASSERT_TRUE(me.wait(event));
      const auto after = coll_traffic(*team, 0);
      ASSERT_TRUE(after);
      EXPECT_EQ(word, 1u);
      EXPECT_EQ(after->waits - before->waits, me.rank() == 0 ? 0u : 1u)
          << algorithm << ", rank " << me.rank();
      ASSERT_TRUE(team->barrier());
    });
    EXPECT_TRUE(job->finish());
  }
}

// HT-06: a team has its memory from the beginning, however long the vectors are.
TEST(CollScratch, HighWaterRisesWithTeamsAndNotWithLengths) {
  auto job = Job::in_process(2, config_of_waits("flags-stream"));
  ASSERT_TRUE(job) << job.status().text();
  job->run_each([](Endpoint& me) {
    const std::uint64_t without = scratch_most(me);
    ASSERT_NE(without, ~std::uint64_t{0}) << "there is no such row";
    std::uint64_t with_two = 0;
    {
      auto one = me.world().dup();
      ASSERT_TRUE(one);
      const std::uint64_t with_one = scratch_most(me);
      EXPECT_GT(with_one, without);
      for (const std::size_t words : {1u, 1000u, 300'000u}) {
        std::vector<std::uint64_t> block(words, me.rank());
        ASSERT_TRUE(broadcast(*one, block, 0));
      }
      EXPECT_EQ(scratch_most(me), with_one);
      auto two = me.world().dup();
      ASSERT_TRUE(two);
      with_two = scratch_most(me);
      EXPECT_GT(with_two, with_one);
      ASSERT_TRUE(two->end());
      ASSERT_TRUE(one->end());
    }
    EXPECT_EQ(scratch_most(me), with_two) << "it only rises";
    auto three = me.world().dup();
    ASSERT_TRUE(three);
    EXPECT_EQ(scratch_most(me), with_two) << "the third team has the place of the first";
    ASSERT_TRUE(three->end());
  });
  EXPECT_TRUE(job->finish());
}

}  // namespace
}  // namespace aqueduct::coll
