// What collective calls cost over loop. All ranks are on this thread, so the counter of allocations sees each of them.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "conduits/loop/tests/allocation_count.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

class LoopCollectives : public testing::TestWithParam<const char*> {
 protected:
  static constexpr Rank kRanks = 4;
  static constexpr std::size_t kMost = 2048;  // elements of a block
  static constexpr int kCalls = 300;

  void SetUp() override {
    Config config = Config::from_variables({});
    for (const auto& [name, value] : {std::pair{"conduit", "loop"},
                                      {"near", "off"},
                                      {"segment_bytes", "64K"},
                                      {"loop_native", GetParam()}}) {
      ASSERT_TRUE(config.set(name, value)) << name;
    }
    auto made = Job::in_process(kRanks, config);
    ASSERT_TRUE(made) << made.status().text();
    job_.emplace(std::move(*made));
    for (Rank rank = 0; rank < kRanks; ++rank) {
      in_[rank].assign(kMost, rank);
      out_[rank].assign(kMost * kRanks, 0);
    }
  }
  void TearDown() override {
    if (!job_) return;
    EXPECT_TRUE(job_->finish());
  }

  Team& team(Rank rank) { return job_->endpoint(rank).world(); }
  std::span<std::uint64_t> in(Rank rank, std::size_t count) { return std::span(in_[rank]).first(count); }
  std::span<std::uint64_t> out(Rank rank, std::size_t count) { return std::span(out_[rank]).first(count); }

  /// One call of all ranks, to its end.
  void call(const std::function<Event(Rank)>& begin) {
    std::array<Event, kRanks> events;
    for (Rank rank = 0; rank < kRanks; ++rank) events[rank] = begin(rank);
    for (int round = 0; round < 1'000'000; ++round) {
      bool done = true;
      for (Rank rank = 0; rank < kRanks; ++rank) {
        job_->endpoint(rank).progress();
        done = events[rank].done() && done;
      }
      if (done) break;
    }
    for (Event& event : events) {
      ASSERT_TRUE(event.done());
      ASSERT_TRUE(event.status()) << event.status().text();
    }
  }

  /// Expects that only the first calls allocate: the method is chosen, and the pools are filled.
  void expect_no_allocation(const char* what, std::size_t count, const std::function<Event(Rank)>& begin) {
    SCOPED_TRACE(testing::Message() << what << " of " << count << " elements");
    for (int i = 0; i < kCalls; ++i) ASSERT_NO_FATAL_FAILURE(call(begin));
    const auto before = allocations();
    for (int i = 0; i < kCalls; ++i) ASSERT_NO_FATAL_FAILURE(call(begin));
    EXPECT_EQ(allocations() - before, 0u);
  }

  std::optional<Job> job_;
  std::array<std::vector<std::uint64_t>, kRanks> in_;
  std::array<std::vector<std::uint64_t>, kRanks> out_;
};

TEST_P(LoopCollectives, CallsAllocateNothing) {
  for (const std::size_t n : {std::size_t{1}, std::size_t{100}, kMost}) {
    expect_no_allocation("broadcast", n, [&](Rank me) { return broadcast_nb(team(me), out(me, n), 1); });
    expect_no_allocation("all_gather", n,
                         [&](Rank me) { return all_gather_nb(team(me), in(me, n), out(me, n * kRanks)); });
    expect_no_allocation("all_reduce", n, [&](Rank me) {
      return all_reduce_nb(team(me), in(me, n), out(me, n), ReduceOp::sum);
    });
    expect_no_allocation("exscan", n,
                         [&](Rank me) { return exscan_nb(team(me), in(me, n), out(me, n), ReduceOp::sum); });
  }
}

TEST_P(LoopCollectives, StartsOfAPlanAllocateNothing) {
  std::array<CollPlan, kRanks> plans;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    auto plan = all_reduce_plan(team(rank), in(rank, 100), out(rank, 100), ReduceOp::sum);
    ASSERT_TRUE(plan) << plan.status().text();
    plans[rank] = std::move(*plan);
  }
  expect_no_allocation("a plan", 100, [&](Rank me) { return plans[me].start(); });
  for (CollPlan& plan : plans) EXPECT_TRUE(plan.end());
}

INSTANTIATE_TEST_SUITE_P(Loop, LoopCollectives, testing::Values("none", "rma"),
                         [](const auto& native) { return std::string(native.param); });

}  // namespace
}  // namespace aqueduct::conduits::loop
