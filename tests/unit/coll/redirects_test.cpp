#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/algorithms/algorithms.hpp"
#include "coll/engine/redirects.hpp"
#include "coll/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

namespace aqueduct::coll {
namespace {

constexpr std::uint64_t kLong = 64 * 1024;

Shape shape_of(Operation operation, std::uint32_t parameter, std::uint64_t bytes = kLong) {
  Shape shape{.operation = operation};
  shape.ranks = 4;
  shape.in = shape.out = Sync::mine;
  shape.bytes = shape.pitch = bytes;
  shape.parameters[0] = parameter;
  return shape;
}

std::vector<Step> steps_of(const Algorithm& algorithm, const Shape& shape, Rank position) {
  const Schedule schedule(algorithm, shape, position);
  std::vector<Step> steps;
  for (std::uint32_t lane = 0; lane < schedule.lanes(); ++lane) {
    for (std::uint32_t i = 0; i < schedule.length(lane); ++i) steps.push_back(schedule.step(lane, i));
  }
  return steps;
}

std::uint32_t found(const Algorithm& algorithm, const Shape& shape, Rank position) {
  return find_redirected(steps_of(algorithm, shape, position)).count;
}

TEST(Redirects, AreTheBlocksThatOnlyComeOutOfScratch) {
  const Shape exchange = shape_of(Operation::all_to_all, 1);
  EXPECT_EQ(found(kAllToAllPairwise, exchange, 2), 3u) << "one for each other member";
  EXPECT_EQ(found(kAllToAllPairwise, shape_of(Operation::all_to_all, 1, 64), 2), 0u) << "short blocks";
  const Shape gather = shape_of(Operation::gather, 4);
  EXPECT_EQ(found(kGatherKNomial, gather, 0), 1u) << "the blocks of the others lie side by side";
  EXPECT_EQ(found(kGatherKNomial, gather, 1), 0u) << "this one receives nothing";
  EXPECT_EQ(found(kScatterKNomial, shape_of(Operation::scatter, 4), 3), 1u);
}

TEST(Redirects, AreNotWhatIsPassedOnOrCombined) {
  const Shape chain = shape_of(Operation::broadcast, 1);
  EXPECT_EQ(found(kBroadcastChain, chain, 1), 0u) << "it puts the block to the next member from scratch";
  EXPECT_EQ(found(kBroadcastChain, chain, 3), 1u) << "the last member";
  EXPECT_EQ(found(kGatherKNomial, shape_of(Operation::gather, 2), 2), 0u) << "scratch holds a subtree";
  EXPECT_EQ(found(kReduceFlat, shape_of(Operation::reduce, 0), 0), 0u);
}

TEST(Redirects, AreNotCopiesWithGapsNorWhatOthersTouch) {
  std::vector<Step> steps(2);
  steps[0].kind = steps[1].kind = Step::Kind::copy;
  steps[0].from = {Space::scratch, 0, kLong};
  steps[0].to = {Space::out, 0, kLong};
  steps[0].bytes = kLong;
  steps[1].from = {Space::in, 0, 0};
  steps[1].to = {Space::out, kLong, 0};
  steps[1].bytes = kLong;
  RedirectedSteps out = find_redirected(steps);
  EXPECT_EQ(out.count, 1u);
  EXPECT_TRUE(out.reads_input);
  steps[1].to.offset = kLong - 1;
  EXPECT_EQ(find_redirected(steps).count, 0u) << "both write to one byte of the output";
  steps[1].to.offset = kLong;
  steps[1].from = {Space::scratch, kLong - 1, 0};
  EXPECT_EQ(find_redirected(steps).count, 0u) << "both read one byte of scratch";
  steps[1].from = {Space::temp, 0, 0};
  out = find_redirected(steps);
  EXPECT_EQ(out.count, 1u);
  EXPECT_FALSE(out.reads_input);
  steps[0].runs = 2;
  steps[1].to.offset = 4 * kLong;
  EXPECT_EQ(find_redirected(steps).count, 1u) << "two runs side by side";
  steps[0].to.pitch = kLong + 8;
  EXPECT_EQ(find_redirected(steps).count, 0u) << "two runs with a gap";
}

// Blocks that are sent when the root has called already are stored in its output.
TEST(Redirects, BlocksGoToTheOutputOfAMemberThatHasCalled) {
  Config config = Config::from_variables({});
  ASSERT_TRUE(config.set("conduit", "udp"));
  ASSERT_TRUE(config.set("near", "off"));
  constexpr Rank kRanks = 3;
  auto job = Job::in_process(kRanks, config);
  ASSERT_TRUE(job) << job.status().text();
  constexpr std::size_t kWords = kLong / sizeof(std::uint64_t);
  std::atomic<int> called = 0;
  job->run_each([&](Endpoint& me) {
    for (int turn = 1; turn <= 3; ++turn) {
      std::vector<std::uint64_t> mine(kWords), all(me.rank() == 0 ? kRanks * kWords : 0);
      for (std::size_t i = 0; i < kWords; ++i) mine[i] = i * kRanks + me.rank() + static_cast<unsigned>(turn);
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (me.rank() != 0 && called < turn && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
      Event event = gather_nb(me.world(), mine, all, 0, {.in = Sync::mine, .out = Sync::mine});
      if (me.rank() == 0) called = turn;
      EXPECT_TRUE(me.wait(event));
      for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t of = i / kWords;
        ASSERT_EQ(all[i], i % kWords * kRanks + of + static_cast<unsigned>(turn)) << "word " << i;
      }
      // Nobody sends the next block before the root has called again.
      EXPECT_TRUE(me.barrier());
    }
    std::uint64_t redirected = 0;
    for (const StatisticsRow& row : me.statistics_rows()) {
      if (std::string_view(row.name) == "collective_redirected") redirected = *row.counter;
    }
    if (me.rank() == 0)
      EXPECT_GT(redirected, 0u);
    else
      EXPECT_EQ(redirected, 0u);
  });
  EXPECT_TRUE(job->finish());
}

// A peer that is late puts its blocks after the team has ended here, when the output is the program's again.
TEST(Redirects, EndWithTheTeamThoughPutsOfTheCallAreInFlight) {
  Config config = Config::from_variables({});
  ASSERT_TRUE(config.set("conduit", "udp"));
  ASSERT_TRUE(config.set("near", "off"));
  ASSERT_TRUE(config.set("log", "off"));
  ASSERT_TRUE(
      config.set("udp_progress", "0"));  // the last member acknowledges nothing, so puts to it stay in flight
  const std::vector<std::byte> in(3 * kLong, std::byte{1});  // puts of it are in flight until the job ends
  auto job = Job::in_process(3, config);
  ASSERT_TRUE(job) << job.status().text();
  std::atomic<int> stage = 0;
  const auto reaches = [&](int wanted, auto&& meanwhile) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (stage < wanted && std::chrono::steady_clock::now() < end) meanwhile();
    EXPECT_GE(stage, wanted);
  };
  job->run_each([&](Endpoint& me) {
    std::vector<std::byte> out(3 * kLong);
    auto made = me.world().split(0, me.rank());
    ASSERT_TRUE(made && *made);
    std::optional<Team> team(std::move(**made));
    EXPECT_TRUE(me.barrier());
    const auto call = [&](int milliseconds) {
      const CollOptions options{
          .in = Sync::mine, .out = Sync::mine, .limit = std::chrono::milliseconds(milliseconds)};
      EXPECT_EQ(all_to_all(*team, in, out, options).code(), ErrorCode::timed_out);
    };
    if (me.rank() == 2) {
      reaches(2, [] { std::this_thread::yield(); });
    } else if (me.rank() == 1) {
      reaches(1, [] { std::this_thread::yield(); });
      call(300);
      stage = 2;
    } else {
      call(100);
      team.reset();
      std::fill(out.begin(), out.end(), std::byte{9});
      stage = 1;
      reaches(2, [&] { static_cast<void>(me.progress()); });
      EXPECT_EQ(std::count(out.begin(), out.end(), std::byte{9}), static_cast<std::ptrdiff_t>(out.size()));
    }
  });
  static_cast<void>(job->finish());
}

}  // namespace
}  // namespace aqueduct::coll
