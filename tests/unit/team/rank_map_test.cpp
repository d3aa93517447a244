#include "team/rank_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace aqueduct::team {
namespace {

void expect_same(const RankMap& map, const std::vector<Rank>& ranks, Rank all) {
  ASSERT_EQ(map.size(), ranks.size());
  std::vector<Rank> index_of(all, kNoRank);
  for (Rank i = 0; i < ranks.size(); ++i) {
    EXPECT_EQ(map[i], ranks[i]);
    index_of[ranks[i]] = i;
  }
  for (Rank rank = 0; rank < all; ++rank) EXPECT_EQ(map.find(rank), index_of[rank]) << "rank " << rank;
  EXPECT_EQ(map.find(kNoRank), kNoRank);
}

TEST(RankMap, OfTheWholeJobIsTheIdentityAndTakesNoMemory) {
  const RankMap world = RankMap::world(1000);
  EXPECT_TRUE(world.is_identity());
  EXPECT_FALSE(world.is_listed());
  EXPECT_EQ(world[999], 999u);
  EXPECT_EQ(world.find(999), 999u);
  EXPECT_EQ(world.find(1000), kNoRank);
}

TEST(RankMap, FindsEqualDistancesUpAndDown) {
  for (const std::vector<Rank>& ranks :
       {std::vector<Rank>{3}, {0, 1, 2}, {2, 5, 8, 11}, {11, 8, 5, 2}, {7, 0}, {4, 5}}) {
    const RankMap map = RankMap::of(ranks);
    EXPECT_FALSE(map.is_listed());
    expect_same(map, ranks, 16);
  }
}

TEST(RankMap, OfOtherOrdersListsItsRanks) {
  const std::vector<Rank> ranks{9, 1, 4, 0, 15};
  const RankMap map = RankMap::of(ranks);
  EXPECT_TRUE(map.is_listed());
  EXPECT_FALSE(map.is_identity());
  expect_same(map, ranks, 16);
}

TEST(RankMap, ThatIsStridedIsTheOneOfItsList) {
  expect_same(RankMap::strided(1, 3, 4), {1, 4, 7, 10}, 16);
  expect_same(RankMap::strided(9, -2, 3), {9, 7, 5}, 16);
  EXPECT_TRUE(RankMap::strided(1, 3, 4) == RankMap::of({1, 4, 7, 10}));
  EXPECT_TRUE(RankMap::strided(6, 5, 1) == RankMap::of({6}));
  EXPECT_TRUE(RankMap::strided(6, 5, 0) == RankMap::of({}));
  EXPECT_TRUE(RankMap::strided(0, 1, 4) == RankMap::world(4));
  EXPECT_TRUE(RankMap::of({5, 1, 4}) == RankMap::of({5, 1, 4}));
  EXPECT_FALSE(RankMap::of({5, 1, 4}) == RankMap::of({5, 4, 1}));
}

TEST(RankMap, OfRandomTeamsIsWhatItWasMadeOf) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Rank> all(1 + random() % 40);
    std::iota(all.begin(), all.end(), Rank{0});
    std::shuffle(all.begin(), all.end(), random);
    const std::vector<Rank> some(all.begin(), all.begin() + 1 + random() % all.size());
    expect_same(RankMap::of(some), some, static_cast<Rank>(all.size()));
  }
}

}  // namespace
}  // namespace aqueduct::team
