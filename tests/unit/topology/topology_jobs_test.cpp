// What programs and layers of a job see of a topology that the settings pretend.

#include <aqueduct/aqueduct.hpp>

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

Result<Job> job_on(Rank ranks, const std::string& topology, const std::string& places = "") {
  Config config;
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"conduit", "smp"}, {"segment_bytes", "4K"}, {"topology", topology}, {"places", places}})
    EXPECT_TRUE(config.set(name, value)) << name;
  return Job::in_process(ranks, config);
}

bool hwloc_is_there() { return read_machine(Source::of("auto")).problem.empty(); }

TEST(TopologyJobs, PlacesRanksInTurn) {
  if (!hwloc_is_there()) GTEST_SKIP() << "no hwloc";
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

TEST(TopologyJobs, GivesTeamsOfDomains) {
  if (!hwloc_is_there()) GTEST_SKIP() << "no hwloc";
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
  if (!hwloc_is_there()) GTEST_SKIP() << "no hwloc";
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
  if (!hwloc_is_there()) GTEST_SKIP() << "no hwloc";
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
