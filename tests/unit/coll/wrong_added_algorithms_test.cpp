// Algorithms of the program's own that were right in the calls that are looked at when they are added, and are wrong in others.

#include <aqueduct/aqueduct.hpp>

#include "examples/own_broadcast/greedy_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace aqueduct::coll {
namespace {

using example::greedy_tree;
using testing::HasSubstr;
using testing::Not;

Config loop_with(const CollectiveAlgorithm& added, std::string_view setting) {
  Config config;
  EXPECT_TRUE(config.set("conduit", "loop"));
  EXPECT_TRUE(config.set("near", "off"));
  EXPECT_TRUE(config.set("segment_bytes", "64K"));
  EXPECT_TRUE(config.add_algorithm(added));
  EXPECT_TRUE(config.set(setting, added.name));
  return config;
}

/// The log of a job of three ranks in which this broadcast of 24 bytes, which is not one of those that are looked at when it is
/// added, cannot be: all members get the error, and the team goes on.
std::string log_of_broadcast_that_cannot_be(CollectiveAlgorithm wrong) {
  wrong.name = "wrong";
  auto job = Job::in_process(3, loop_with(wrong, "coll_broadcast"));
  if (!job) return "no job";
  testing::internal::CaptureStderr();
  job->run_each([](Endpoint& me) {
    std::array<std::uint64_t, 3> words{};
    EXPECT_EQ(broadcast(me.world(), std::span(words), 0).code(), ErrorCode::invalid_argument);
    std::array<std::uint64_t, 2> fewer{me.rank() + 1, 7};
    EXPECT_TRUE(broadcast(me.world(), std::span(fewer), 0));
    EXPECT_EQ(fewer[0], 1u);
  });
  std::string log = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(job->finish());
  return log;
}

TEST(WrongAddedAlgorithms, FailACallInWhichTheyAreWrong) {
  CollectiveAlgorithm wrong = greedy_tree();
  wrong.build = [](const AlgorithmCall& call, Rank member, StepList& steps) noexcept {
    if (call.bytes == 24) steps.put(call.ranks, {StepMemory::output, 0}, 0, call.bytes, 0);
    greedy_tree().build(call, member, steps);
  };
  EXPECT_THAT(log_of_broadcast_that_cannot_be(wrong),
              HasSubstr("the program's algorithm wrong is wrong: step 0 of member 0 of 3 names a peer"));
}

TEST(WrongAddedAlgorithms, FailACallInWhichOneMemberIsWrong) {
  CollectiveAlgorithm wrong = greedy_tree();
  wrong.build = [](const AlgorithmCall& call, Rank member, StepList& steps) noexcept {
    if (call.bytes == 24 && member == 2) steps.copy({StepMemory::output, 0}, {StepMemory::output, 0}, 25);
    greedy_tree().build(call, member, steps);
  };
  const std::string log = log_of_broadcast_that_cannot_be(wrong);
  EXPECT_THAT(log, HasSubstr("the program's algorithm wrong is wrong: step 0 of member 2 of 3 reads beyond"));
  EXPECT_THAT(log, Not(HasSubstr("has refused"))) << "no member has to tell another";
}

/// An all-reduce in which each member sends its block to all others; in a team of 4, which is not one of those that are looked at
/// when it is added, its last member has a wrong step too.
CollectiveAlgorithm all_reduce_wrong_for_4() {
  CollectiveAlgorithm one;
  one.name = "wrong-for-4";
  one.operation = Collective::all_reduce;
  one.needs = [](const AlgorithmCall& call) noexcept {
    return AlgorithmNeeds{.scratch = call.ranks * call.bytes, .temporary = call.bytes, .counters = 2};
  };
  one.cost = [](const AlgorithmCall& call) noexcept {
    const std::uint64_t puts = std::uint64_t{call.ranks} * (call.ranks - 1);
    return AlgorithmCost{.messages = puts, .bytes = puts * call.bytes, .depth = 1};
  };
  one.build = [](const AlgorithmCall& call, Rank me, StepList& steps) noexcept {
    constexpr StepPlace kInput{StepMemory::input, 0};
    constexpr StepPlace kOutput{StepMemory::output, 0};
    constexpr StepPlace kSum{StepMemory::temporary, 0};
    if (call.ranks == 4 && me == 3) steps.signal(4, 0);
    for (Rank to = 0; to < call.ranks; ++to) {
      if (to != me) steps.put(to, kInput, me * call.bytes, call.bytes, 0, /*done=*/1);
    }
    steps.wait(0, call.ranks - 1);
    for (Rank of = 0; of < call.ranks; ++of) {
      const StepPlace block = of == me ? kInput : StepPlace{StepMemory::scratch, of * call.bytes};
      if (of == 0) {
        steps.copy(block, kSum, call.bytes);
      } else {
        steps.reduce(kSum, block, kSum, call.bytes);
      }
    }
    steps.wait(1, call.ranks - 1);  // the output may be the input
    steps.copy(kSum, kOutput, call.bytes);
  };
  return one;
}

TEST(WrongAddedAlgorithms, ThatAreWrongAreNotTakenForBarriers) {
  for (const Rank ranks : {3u, 4u}) {
    auto job = Job::in_process(ranks, loop_with(all_reduce_wrong_for_4(), "coll_barrier"));
    ASSERT_TRUE(job);
    testing::internal::CaptureStderr();
    job->run_each([](Endpoint& me) {
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(me.barrier());
    });
    const std::string log = testing::internal::GetCapturedStderr();
    if (ranks == 4) {
      EXPECT_THAT(log,
                  HasSubstr("barrier of a team of 4 ranks: the program's algorithm wrong-for-4 is wrong, and "
                            "another one is taken: step 0 of member 3 of 4 names a peer"));
    } else {
      EXPECT_EQ(log, "") << "it is right";
    }
    EXPECT_TRUE(job->finish());
  }
}

}  // namespace
}  // namespace aqueduct::coll
