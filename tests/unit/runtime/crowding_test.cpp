// Ranks share processors if there are more of them than processors on which they may run, however many their host has.

#include <aqueduct/aqueduct.hpp>

#include "core/endpoint_state.hpp"
#include "topology/cpu_set.hpp"

#include <gtest/gtest.h>

#include <thread>

#include <sched.h>

namespace aqueduct::runtime {
namespace {

struct Seen {
  bool crowded = false;
  std::uint32_t fewest = 0;
};

/// What a job of two ranks takes itself for, if its process may run on so many processors.
Seen job_of_two_on(std::size_t processors) {
  Seen seen;
  std::thread([&] {
    const topology::CpuSet all = topology::cpus_of_this_thread();
    cpu_set_t some;
    CPU_ZERO(&some);
    for (std::size_t i = 0; i < processors; ++i) CPU_SET(all[i], &some);
    ASSERT_EQ(::sched_setaffinity(0, sizeof some, &some), 0);
    Config config;
    ASSERT_TRUE(config.set("conduit", "smp"));
    ASSERT_TRUE(config.set("segment_bytes", "4K"));
    auto job = Job::in_process(2, config);
    ASSERT_TRUE(job);
    seen.crowded = job->endpoint(0).state().crowded[1];
    seen.fewest = job->endpoint(1).state().pacing.fewest;
    EXPECT_TRUE(job->finish());
  }).join();
  return seen;
}

TEST(Crowding, RanksBoundToOneProcessorShareIt) {
  const Seen seen = job_of_two_on(1);
  EXPECT_TRUE(seen.crowded);
  EXPECT_EQ(seen.fewest, core::Pacing::kFewestSpins);
}

TEST(Crowding, AProcessorForEachIsEnough) {
  if (topology::cpus_of_this_thread().size() < 2) GTEST_SKIP() << "one processor";
  const Seen seen = job_of_two_on(2);
  EXPECT_FALSE(seen.crowded);
  EXPECT_EQ(seen.fewest, core::Pacing::kFewestWithCores);
}

}  // namespace
}  // namespace aqueduct::runtime
