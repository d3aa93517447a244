// If the network does a job's atomics, it does all of them, also those of a rank on its own memory.

#include <aqueduct/aqueduct.hpp>

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

TEST(NativeAtomics, OfAllRanksAndTheOwnerGoThroughTheNetworkAndLoseNothing) {
  constexpr Rank kRanks = 3;
  constexpr std::uint64_t kTurns = 2000;
  Config config;
  for (const auto& [name, value] : {std::pair{"conduit", "loop"}, {"near", "off"}, {"loop_native", "rma"}}) {
    ASSERT_TRUE(config.set(name, value));
  }
  auto job = Job::in_process(kRanks, config);
  ASSERT_TRUE(job);
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&me = job->endpoint(rank)] {
      const GlobalPtr<std::uint64_t> word{1, 8};
      for (std::uint64_t i = 0; i < kTurns; ++i) {
        ASSERT_TRUE(i % 2 == 0 ? atomic<AtomicOp::add>(me, word, 1) : fetch_add(me, word, 1).status());
      }
      ASSERT_TRUE(me.barrier());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(job->endpoint(1).segment().data() + 8), kRanks * kTurns);
  for (Rank rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(job->endpoint(rank).statistics().native_atomics, kTurns) << "rank " << rank;
    EXPECT_EQ(job->endpoint(rank).statistics().reference_atomics, 0u) << "rank " << rank;
  }
}

TEST(NativeAtomics, OnOnesOwnMemoryRefuseWhatTheyRefuseElsewhere) {
  Config config;
  for (const auto& [name, value] : {std::pair{"conduit", "loop"}, {"near", "off"}, {"loop_native", "rma"}}) {
    ASSERT_TRUE(config.set(name, value));
  }
  auto job = Job::in_process(1, config);
  ASSERT_TRUE(job);
  Endpoint& me = job->endpoint(0);
  const std::uint64_t end = me.segment().size();
  EXPECT_EQ(fetch_add(me, GlobalPtr<std::uint64_t>{0, 4}, 1).status().code(), ErrorCode::misaligned);
  EXPECT_EQ(fetch_add(me, GlobalPtr<std::uint64_t>{0, end}, 1).status().code(), ErrorCode::out_of_range);
  const auto old = compare_swap(me, GlobalPtr<std::uint32_t>{0, 4}, 0, 7);
  ASSERT_TRUE(old);
  EXPECT_EQ(*old, 0u);
  EXPECT_EQ(me.statistics().native_atomics, 1u);
}

}  // namespace
}  // namespace aqueduct::conduits::loop
