#include "topology/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace aqueduct::topology {
namespace {

using testing::ElementsAre;

/// `packages` of `numas` of `each` processors; member i is on processor place[i].
Placement placed(std::uint32_t packages, std::uint32_t numas, std::uint32_t each,
                 const std::vector<std::uint32_t>& place) {
  CpuSet cpus(packages * numas * each);
  std::iota(cpus.begin(), cpus.end(), 0u);
  std::vector<Table::Found> levels{{"package", {}, true}, {"numa", {}, true}, {"core", {}, false}};
  for (const std::uint32_t cpu : cpus) {
    levels[0].domain.push_back(cpu / (numas * each));
    levels[1].domain.push_back(cpu / each);
    levels[2].domain.push_back(cpu);
  }
  const Table table = Table::of(cpus, levels);
  std::vector<Rank> members(place.size());
  std::iota(members.begin(), members.end(), 0u);
  return Placement::of(members, table.levels(), [&](Rank member, std::size_t level) {
    return place[member] == kNowhere ? (level == 0 ? 0 : kNowhere) : table.domain_of(level, {place[member]});
  });
}

TEST(Placement, PutsMembersOfADomainSideBySide) {
  const Placement found = placed(2, 1, 4, {4, 0, 5, 1, 6, 2});
  EXPECT_EQ(found.groups(), 2u);
  std::vector<Rank> order;
  for (std::uint32_t label = 0; label < found.size(); ++label) {
    order.push_back(found.member(label));
    EXPECT_EQ(found.label_of(found.member(label)), label);
  }
  EXPECT_THAT(order, ElementsAre(1, 3, 5, 0, 2, 4));
  EXPECT_EQ(found.group_of(2), 0u);
  EXPECT_EQ(found.group_of(3), 1u);
  EXPECT_EQ(found.group_begin(1), 3u);
  EXPECT_EQ(found.group_end(1), 6u);
}

// The order of the team plays no part in which groups there are.
TEST(Placement, HasTheSameGroupsWhateverTheTeamsOrder) {
  std::vector<std::uint32_t> place(32);
  std::iota(place.begin(), place.end(), 0u);
  std::mt19937 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    std::ranges::shuffle(place, random);
    const Placement found = placed(2, 2, 8, place);
    ASSERT_EQ(found.cuts().size(), 2u);
    EXPECT_THAT(found.cuts()[0].first, ElementsAre(0, 16, 32));
    EXPECT_THAT(found.cuts()[1].first, ElementsAre(0, 8, 16, 24, 32));
    for (std::uint32_t label = 0; label < 32; ++label) {
      EXPECT_EQ(place[found.member(label)] / 8, found.cuts()[1].group_of(label));
      EXPECT_EQ(found.label_of(found.member(label)), label);
    }
  }
}

TEST(Placement, LeavesOutLevelsThatSeparateNobodyOrEverybody) {
  EXPECT_TRUE(placed(2, 2, 4, {0, 1, 2}).cuts().empty()) << "all in one domain";
  EXPECT_TRUE(placed(4, 1, 4, {0, 4, 8, 12}).cuts().empty()) << "one in each";
  EXPECT_EQ(placed(2, 2, 4, {0, 1, 8, 9}).cuts().size(), 1u)
      << "packages and NUMA nodes give the same groups";
}

TEST(Placement, GroupsMembersThatFloat) {
  const Placement found = placed(2, 1, 4, {kNowhere, 4, 0, kNowhere, 1});
  EXPECT_EQ(found.groups(), 3u);
  EXPECT_EQ(found.member(3), 0u);
  EXPECT_EQ(found.member(4), 3u);
}

TEST(Placement, TakesUnequalDomains) {
  const Placement found = placed(3, 1, 8, {0, 1, 2, 3, 4, 8, 16, 17});
  EXPECT_THAT(found.cuts().at(0).first, ElementsAre(0, 5, 6, 8));
}

TEST(Placement, OfNobodyIsEmpty) { EXPECT_EQ(placed(1, 1, 1, {}).size(), 0u); }

}  // namespace
}  // namespace aqueduct::topology
