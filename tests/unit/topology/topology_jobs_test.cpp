// What programs and layers of a job see of a topology that the settings pretend.

#include <aqueduct/aqueduct.hpp>

#include "team/team_state.hpp"
#include "topology/host_topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace aqueduct::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Job> job_on(Rank ranks, const std::string& topology, const std::string& places = "",
                   const std::string& log = "warn") {
  Config config;
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"conduit", "smp"},
                                                                                    {"segment_bytes", "4K"},
                                                                                    {"topology", topology},
                                                                                    {"places", places},
                                                                                    {"log", log}})
    EXPECT_TRUE(config.set(name, value)) << name;
  return Job::in_process(ranks, config);
}

bool hwloc_is_there() { return read_machine(Source::of("auto")).problem.empty(); }

TEST(TopologyJobs, PlacesRanksInTurn) {
  if (!hwloc_is_there()) GTEST_SKIP() << "no hwloc, which reads pretended machines";
  auto job = job_on(6, "package:2 core:4 pu:1");
  ASSERT_TRUE(job);
  job->run_each([](Endpoint& me) {
    const auto topology = topology_of(me);
    ASSERT_TRUE(topology);
    ASSERT_EQ(topology->levels.size(), 3u);
    EXPECT_EQ(topology->levels[0].name, "host");
    EXPECT_FALSE(topology->levels[0].separates);
    EXPECT_EQ(topology->levels[1].name, "package");
    EXPECT_EQ(topology->levels[1].domains, 2u);
    EXPECT_TRUE(topology->levels[1].separates);
    EXPECT_FALSE(topology->levels[2].separates);
    EXPECT_EQ(topology->source, "package:2 core:4 pu:1");
    EXPECT_EQ(topology->problem, "");
    for (Rank rank = 0; rank < me.ranks(); ++rank) {
      EXPECT_EQ(*domain_of(me, rank, 0), me.host_of(rank));
      EXPECT_EQ(*domain_of(me, rank, 1), rank / 4);
      EXPECT_EQ(*domain_of(me, rank, 2), rank);
      EXPECT_EQ(*cpus_of(me, rank), std::to_string(rank));
    }
    EXPECT_EQ(domain_of(me, 6, 1).status().code(), ErrorCode::out_of_range);
    EXPECT_EQ(domain_of(me, 0, 3).status().code(), ErrorCode::out_of_range);
    EXPECT_EQ(cpus_of(me, 6).status().code(), ErrorCode::out_of_range);
  });
  EXPECT_TRUE(job->finish());
}

// Requirement HT-16: each rank's memory for collective operations is its own, and belongs to its own domain.
TEST(TopologyJobs, TheLogSaysToWhichDomainTheMemoryOfARankBelongs) {
  if (!hwloc_is_there()) GTEST_SKIP() << "no hwloc, which reads pretended machines";
  constexpr Rank kPlaces[] = {0, 5, 2, 7};  // processors, of which each NUMA node has two
  const auto line = [](std::uint64_t team, Rank rank, const std::string& rest) {
    return "team " + std::to_string(team) + ": rank " + std::to_string(rank) + "'s board and scratch, " +
           rest;
  };
  testing::internal::CaptureStderr();  // before the log is made
  auto job = job_on(4, "package:2 numa:2 core:2 pu:1", "0,5,2,7", "debug");
  std::uint64_t half_id = 0;
  if (job) {
    job->run_each([&](Endpoint& me) {
      auto half = me.world().split(me.rank() % 2, me.rank());
      ASSERT_TRUE(half && *half);
      if (me.rank() == 3) half_id = (*half)->state().id;
      ASSERT_TRUE((*half)->end());
    });
    EXPECT_TRUE(job->finish());
  }
  const std::string said = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(job) << job.status().text();
  for (Rank rank = 0; rank < 4; ++rank)
    EXPECT_THAT(said, testing::ContainsRegex(
                          line(0, rank, "[0-9]+ bytes at [0-9]+ of its hidden memory, belong to ") +
                          "[a-z0-9+]*numa[a-z0-9+]* " + std::to_string(kPlaces[rank] / 2) + "\n"));
  EXPECT_THAT(said, testing::ContainsRegex(line(half_id, 3, ".*numa[a-z0-9+]* 3\n")));
}

// Where no topology is pretended the system knows where pages are.
TEST(TopologyJobs, TheLogSaysNothingOfDomainsThatAreNotPretended) {
  testing::internal::CaptureStderr();
  auto job = job_on(2, "none", "", "debug");
  if (job) {
    EXPECT_TRUE(job->finish());
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::Not(HasSubstr("board and scratch")));
}

TEST(TopologyJobs, GivesTeamsOfDomains) {
  if (!hwloc_is_there()) GTEST_SKIP() << "no hwloc, which reads pretended machines";
  auto job = job_on(6, "package:2 core:4 pu:1", "4,0,5,1,6,2");
  ASSERT_TRUE(job);
  job->run_each([](Endpoint& me) {
    const auto mine = members_in_my_domain(me.world(), 1);
    ASSERT_TRUE(mine);
    const auto odd = [](Rank rank) { return rank % 2; };
    ASSERT_EQ(mine->size(), 3u);
    for (Rank i = 0; i < 3; ++i) EXPECT_EQ(odd(mine->rank_of(i)), odd(me.rank()));
    const auto leaders = domain_leaders(me.world(), 1);
    ASSERT_TRUE(leaders);
    ASSERT_EQ(leaders->size(), 2u);
    EXPECT_EQ(leaders->rank_of(0), 0u);
    EXPECT_EQ(leaders->rank_of(1), 1u);
    EXPECT_EQ(members_in_my_domain(me.world(), 7).status().code(), ErrorCode::out_of_range);
    auto team = Team::create(me, *mine, 1);
    ASSERT_TRUE(team);
    EXPECT_TRUE(team->barrier());
    EXPECT_TRUE(team->end());
    EXPECT_EQ(members_in_my_domain(*team, 1).status().code(), ErrorCode::closed);
  });
  EXPECT_TRUE(job->finish());
}

TEST(TopologyJobs, RefusesWhatCannotBePretended) {
  if (!hwloc_is_there()) GTEST_SKIP() << "no hwloc, which reads pretended machines";
  const auto refused = [](const std::string& topology, const std::string& places, const std::string& why) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(job_on(2, topology, places).status().code(), ErrorCode::bad_setting) << topology << places;
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(why));
  };
  refused("four packages", "", "is no topology: write levels");
  refused("/nowhere/a.xml", "", "/nowhere/a.xml");
  refused("package:2 core:2 pu:1", "0,9", "the topology has no processor 9: its processors are 0-3");
  refused("package:2 core:2 pu:1", "zero", "'zero' is no list of processors");
  refused("auto", "0,1", "bind ranks by");
}

TEST(TopologyJobs, KnowsNothingIfToldSo) {
  auto job = job_on(2, "none");
  ASSERT_TRUE(job);
  const auto topology = topology_of(job->endpoint(0));
  ASSERT_TRUE(topology);
  EXPECT_EQ(topology->levels.size(), 1u);
  EXPECT_EQ(topology->source, "none");
}

// The processors of this process, as the system tells.
TEST(TopologyJobs, FindsWhereItsOwnRanksAre) {
  auto job = job_on(3, "auto");
  ASSERT_TRUE(job);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(*cpus_of(job->endpoint(0), static_cast<Rank>(i)), text_of(cpus_of_this_thread()));
}

TEST(TopologyJobs, WarnsOnceOfRanksThatFloat) {
  if (!hwloc_is_there()) GTEST_SKIP() << "no hwloc, which reads pretended machines";
  auto job = job_on(2, "package:2 core:2 pu:1");
  ASSERT_TRUE(job);
  testing::internal::CaptureStderr();
  job->endpoint(0).state().layer<HostTopology>()->warn_of_floating();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "both ranks are bound";
  auto other = job_on(2, "none");
  ASSERT_TRUE(other);
  // As if the launcher had bound nobody on a host of two packages.
  auto& state = other->endpoint(0).state();
  const Table two = Table::of({0, 1}, std::vector<Table::Found>{{"package", {0, 1}, true}});
  state.layer<HostTopology>()->pretend(two, {{0, 1}, {1}});
  testing::internal::CaptureStderr();
  state.layer<HostTopology>()->warn_of_floating();
  state.layer<HostTopology>()->warn_of_floating();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(
      said, HasSubstr("1 of 2 ranks of this host, rank 0 among them, are not bound to one of its 2 domains"));
  EXPECT_EQ(said.find("not bound"), said.rfind("not bound"));
}

}  // namespace
}  // namespace aqueduct::topology
