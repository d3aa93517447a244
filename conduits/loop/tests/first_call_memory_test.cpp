// The first calls of a team, on members that have no memory for them.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>
#include <aqueduct/tune.hpp>

#include "conduits/loop/tests/allocation_count.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <utility>

namespace aqueduct::conduits::loop {
namespace {

Result<Job> job_of_four() {
  Config config;
  for (const auto& [name, value] :
       {std::pair{"conduit", "loop"}, {"near", "off"}, {"segment_bytes", "4K"}, {"log", "off"}})
    EXPECT_TRUE(config.set(name, value));
  return Job::in_process(4, config);
}

// The others got `mismatch` there, and so did the member itself from its second call on.
TEST(FirstCallMemory, AMemberWithoutItIsNamedOnAllMembers) {
  auto job = job_of_four();
  ASSERT_TRUE(job);
  job->run_each([](Endpoint& ep) {
    auto team = ep.world().dup();
    ASSERT_TRUE(team);
    const auto sums = [&] {
      std::uint64_t word = 1;
      return all_reduce(*team, std::span(&word, 1), ReduceOp::sum);
    };
    const Status outcome(ErrorCode::no_memory, 2);
    if (ep.rank() == 2) {
      const NoMemory none;
      EXPECT_EQ(sums(), outcome);
    } else {
      EXPECT_EQ(sums(), outcome);
    }
    ASSERT_TRUE(ep.barrier());
    EXPECT_EQ(sums(), outcome);  // the later calls too
    std::uint64_t word = 1;
    ASSERT_TRUE(all_reduce(ep.world(), std::span(&word, 1), ReduceOp::sum));
    EXPECT_EQ(word, 4u);
    EXPECT_TRUE(team->end());
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job->finish());
}

// The refused call returns at once, and the next one waits until it is known what the others have done.
TEST(FirstCallMemory, ATeamWithoutItOnAllMembersGoesOn) {
  auto job = job_of_four();
  ASSERT_TRUE(job);
  std::atomic<int> refused{0};
  job->run_each([&](Endpoint& ep) {
    for (int round = 0; round < 4; ++round) {
      auto team = ep.world().dup();
      ASSERT_TRUE(team);
      std::uint64_t word = 1;
      const auto sum = [&] { return all_reduce(*team, std::span(&word, 1), ReduceOp::sum); };
      // One is late: the others may be in their next call, and wait there.
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      const bool is_late = ep.rank() == static_cast<Rank>(round);
      while (is_late && refused < 4 * round + 3 && std::chrono::steady_clock::now() < until) ep.progress();
      {
        const NoMemory none;
        EXPECT_EQ(sum(), Status(ErrorCode::no_memory, ep.rank()));
      }
      ++refused;
      if (round == 3) {
        ASSERT_TRUE(team->barrier());
      }
      ASSERT_TRUE(sum());
      EXPECT_EQ(word, 4u);
      ASSERT_TRUE(sum());
      EXPECT_EQ(word, 16u);
      EXPECT_TRUE(team->end());
      ASSERT_TRUE(ep.barrier());
    }
  });
  EXPECT_TRUE(job->finish());
}

/// `tuned`: the choice of an algorithm needs memory too.
void call_without_memory_and_at_once_again(bool tuned) {
  auto job = job_of_four();
  ASSERT_TRUE(job);
  std::atomic<bool> made_next{false};
  job->run_each([&](Endpoint& ep) {
    const Status outcome(ErrorCode::no_memory, 2);
    auto team = ep.world().dup();
    ASSERT_TRUE(team);
    std::uint64_t word = 1;
    if (tuned) {
      constexpr Collective kOperation = Collective::all_reduce;
      constexpr std::uint64_t kBytes = sizeof word;
      TuneOptions options;
      options.time = std::chrono::milliseconds(1);
      options.candidates = 1;
      options.type = ElementType::u64;
      ASSERT_TRUE(tune(*team, std::span(&kOperation, 1), std::span(&kBytes, 1), options));
      ASSERT_TRUE(ep.barrier());
    }
    if (ep.rank() == 2) {
      {
        const NoMemory none;
        EXPECT_EQ(all_reduce(*team, std::span(&word, 1), ReduceOp::sum), outcome);
      }
      // No other member has called yet, so none has told anything.
      Event next = all_reduce_nb(*team, std::span(&word, 1), ReduceOp::sum);
      EXPECT_TRUE(next.done());
      made_next = true;
      EXPECT_EQ(ep.wait(next), outcome);
    } else {
      const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (!made_next && std::chrono::steady_clock::now() < until) ep.progress();
      EXPECT_EQ(all_reduce(*team, std::span(&word, 1), ReduceOp::sum), outcome);
      EXPECT_EQ(all_reduce(*team, std::span(&word, 1), ReduceOp::sum), outcome);
    }
    ASSERT_TRUE(ep.barrier());
    EXPECT_TRUE(team->end());
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job->finish());
}

// The others took the mark of its next call for that of another call, and got `mismatch`, if it came before the news.
TEST(FirstCallMemory, ANextCallMadeAtOnceSendsNothing) { call_without_memory_and_at_once_again(false); }

TEST(FirstCallMemory, NorDoesOneAfterAChoiceWithoutMemory) { call_without_memory_and_at_once_again(true); }

}  // namespace
}  // namespace aqueduct::conduits::loop
