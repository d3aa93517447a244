// How the members of a team are grouped by the places where they run.

#include "team/hierarchy.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace aqueduct::team {
namespace {

std::vector<Rank> ranks_of(const RankMap& map) {
  std::vector<Rank> ranks;
  for (Rank i = 0; i < map.size(); ++i) ranks.push_back(map[i]);
  return ranks;
}

std::uint32_t host_of(Rank rank) { return 100 + rank / 4; }  // four ranks on a host
std::uint32_t domain_of(Rank rank) {
  return (rank % 4) / 2 + 7;
}  // two in a memory domain; each host counts anew

TEST(Hierarchy, OfTheWholeJobHasAGroupForEachHostAndNoLists) {
  const RankMap world = RankMap::world(10);
  const Level hosts(world, host_of);
  ASSERT_EQ(hosts.groups(), 3u);
  for (Rank rank = 0; rank < 10; ++rank) EXPECT_EQ(hosts.group_of(rank), rank / 4);
  EXPECT_EQ(ranks_of(hosts.members_of(world, 1)), (std::vector<Rank>{4, 5, 6, 7}));
  EXPECT_EQ(ranks_of(hosts.members_of(world, 2)), (std::vector<Rank>{8, 9}));
  EXPECT_EQ(ranks_of(hosts.leaders(world)), (std::vector<Rank>{0, 4, 8}));
  EXPECT_FALSE(hosts.members_of(world, 1).is_listed());
  EXPECT_FALSE(hosts.leaders(world).is_listed());
}

TEST(Hierarchy, IsInTeamOrder) {
  const RankMap team = RankMap::of({9, 2, 4, 8, 0, 5});
  const Level hosts(team, host_of);
  ASSERT_EQ(hosts.groups(), 3u);
  EXPECT_EQ(ranks_of(hosts.leaders(team)), (std::vector<Rank>{9, 2, 4}));
  EXPECT_EQ(ranks_of(hosts.members_of(team, 0)), (std::vector<Rank>{9, 8}));
  EXPECT_EQ(ranks_of(hosts.members_of(team, 1)), (std::vector<Rank>{2, 0}));
  EXPECT_EQ(ranks_of(hosts.members_of(team, 2)), (std::vector<Rank>{4, 5}));
  for (Rank group = 0; group < 3; ++group) EXPECT_EQ(hosts.group_of(hosts.leader_of(group)), group);
}

TEST(Hierarchy, OfALowerLevelDividesTheGroupsAbove) {
  const RankMap world = RankMap::world(10);
  const Level hosts(world, host_of);
  const Level domains(world, domain_of, hosts);
  ASSERT_EQ(domains.groups(), 5u) << "equal numbers on different hosts are different domains";
  EXPECT_EQ(ranks_of(domains.leaders(world)), (std::vector<Rank>{0, 2, 4, 6, 8}));
  for (Rank group = 0; group < domains.groups(); ++group) {
    const RankMap members = domains.members_of(world, group);
    ASSERT_EQ(members.size(), 2u);
    EXPECT_EQ(hosts.group_of(members[0]), hosts.group_of(members[1]));
  }
}

TEST(Hierarchy, OfNobodyHasNoGroup) {
  const RankMap nobody = RankMap::world(0);
  const Level hosts(nobody, host_of);
  EXPECT_EQ(hosts.groups(), 0u);
  EXPECT_EQ(hosts.leaders(nobody).size(), 0u);
}

}  // namespace
}  // namespace aqueduct::team
