// Ranks share processors if there are more of them than processors on which they may run, however many their host has.

#include <aqueduct/aqueduct.hpp>

#include "core/endpoint_state.hpp"
#include "runtime/crowding.hpp"
#include "topology/cpu_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include <sched.h>

namespace aqueduct::runtime {
namespace {

using testing::ElementsAre;

struct Seen {
  bool crowded = false;
  bool says_so = false;
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
    seen.says_so = shares_processors(job->endpoint(0), 1);
    EXPECT_FALSE(shares_processors(job->endpoint(0), 2)) << "there is no such rank";
    seen.fewest = job->endpoint(1).state().pacing.fewest;
    EXPECT_TRUE(job->finish());
  }).join();
  return seen;
}

TEST(Crowding, RanksBoundToOneProcessorShareIt) {
  const Seen seen = job_of_two_on(1);
  EXPECT_TRUE(seen.crowded);
  EXPECT_TRUE(seen.says_so);
  EXPECT_EQ(seen.fewest, core::Pacing::kFewestSpins);
}

TEST(Crowding, AProcessorForEachIsEnough) {
  if (topology::cpus_of_this_thread().size() < 2) GTEST_SKIP() << "one processor";
  const Seen seen = job_of_two_on(2);
  EXPECT_FALSE(seen.crowded);
  EXPECT_FALSE(seen.says_so);
  EXPECT_EQ(seen.fewest, core::Pacing::kFewestWithCores);
}

/// Ranks of several hosts, as they have described themselves.
struct DescribedRanks {
  struct One {
    std::uint32_t host;
    std::string cpus;  ///< on which it may run
    std::uint64_t processors = 8;
  };
  explicit DescribedRanks(const std::vector<One>& all) : state(0, static_cast<Rank>(all.size()), config) {
    for (Rank rank = 0; rank < all.size(); ++rank) {
      state.host_of[rank] = all[rank].host;
      gathered.cpus.push_back(all[rank].cpus);
      gathered.processors.push_back(all[rank].processors);
    }
    processors = processors_of_hosts(state, gathered);
    crowded = crowded_ranks(state, processors);
  }
  Config config;
  aqueduct::detail::EndpointState state;
  GatheredData gathered;
  std::vector<std::size_t> processors;  ///< [host]
  std::vector<bool> crowded;            ///< [rank]
};

TEST(Crowding, IsThatOfEachHostAlone) {
  // Three ranks on two processors; one on a processor of the same number elsewhere; two with a processor each.
  const DescribedRanks ranks({{0, "0,1"}, {1, "1"}, {2, "0-3"}, {0, "0,1"}, {2, "0-3"}, {0, "0,1"}});
  EXPECT_THAT(ranks.processors, ElementsAre(2, 1, 4));
  EXPECT_THAT(ranks.crowded, ElementsAre(true, false, false, true, false, true));
}

TEST(Crowding, ProcessorsOfSeveralRanksCountOnce) {
  const DescribedRanks ranks({{0, "0-2"}, {0, "2,3"}, {0, "1"}, {1, "0-3"}, {1, "4-7"}});
  EXPECT_THAT(ranks.processors, ElementsAre(4, 8));
}

// One rank of the host that does not know its own may run on any.
TEST(Crowding, UnknownProcessorsAreAllThatTheHostHas) {
  const DescribedRanks ranks(
      {{0, "0", 2}, {0, "", 2}, {0, "0", 2}, {1, "3", 2}, {1, "3", 2}, {2, "no set", 1}});
  EXPECT_THAT(ranks.processors, ElementsAre(2, 1, 1));
  EXPECT_THAT(ranks.crowded, ElementsAre(true, true, true, true, true, false));
}

TEST(Crowding, AHostHasNoMoreThanItsRanksSay) {
  const DescribedRanks ranks({{0, "0-7", 4}, {0, "0-7", 3}});
  EXPECT_THAT(ranks.processors, ElementsAre(3));
}

TEST(Crowding, RanksInVirtualTimeShareNone) {
  constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  const DescribedRanks ranks({{0, "0", kNoLimit}, {0, "0", kNoLimit}, {1, "0"}, {1, "0"}});
  EXPECT_THAT(ranks.processors, ElementsAre(~std::size_t{0}, 1));
  EXPECT_THAT(ranks.crowded, ElementsAre(false, false, true, true));
}

}  // namespace
}  // namespace aqueduct::runtime
