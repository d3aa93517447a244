#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/pattern.hpp"

#include <optional>

namespace aqueduct::conformance {
namespace {

class Teams : public FabricTest {};

std::vector<Rank> members_of(const Team& team) { return {team.members().begin(), team.members().end()}; }

TEST_P(Teams, WorldHasAllRanksInOrder) {
  as_each_of(4, 64, [](Endpoint& me) {
    Team& world = me.world();
    EXPECT_EQ(world.size(), 4u);
    EXPECT_EQ(world.index(), me.rank());
    EXPECT_EQ(members_of(world), (std::vector<Rank>{0, 1, 2, 3}));
    EXPECT_EQ(world.rank_of(3), 3u);
    EXPECT_EQ(world.rank_of(4), kNoRank);
    EXPECT_EQ(world.index_of(2), 2u);
    EXPECT_EQ(world.index_of(4), kNoRank);
    EXPECT_EQ(world.index_of(kNoRank), kNoRank);
  });
}

TEST_P(Teams, SplitOrdersByKeyThenIndex) {
  as_each_of(4, 64, [](Endpoint& me) {
    // The keys reverse the order; ranks 1 and 2 share a key, so they keep theirs.
    const std::uint32_t keys[] = {9, 5, 5, 0};
    auto team = me.world().split(7, keys[me.rank()]);
    ASSERT_TRUE(team && team->has_value());
    EXPECT_EQ(members_of(**team), (std::vector<Rank>{3, 1, 2, 0}));
    const Rank indices[] = {3, 1, 2, 0};
    EXPECT_EQ((*team)->index(), indices[me.rank()]);
    EXPECT_EQ((*team)->rank_of(0), 3u);
    EXPECT_EQ((*team)->index_of(0), 3u);
    ASSERT_TRUE((*team)->barrier());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Teams, SplitMakesATeamForEachColourAndNoneWithout) {
  as_each_of(4, 64, [](Endpoint& me) {
    const std::optional<std::uint32_t> colours[] = {0xffffffff, std::nullopt, 0, 0xffffffff};
    auto team = me.world().split(colours[me.rank()], 0);
    ASSERT_TRUE(team);
    ASSERT_EQ(team->has_value(), me.rank() != 1);
    if (me.rank() == 2) {
      EXPECT_EQ(members_of(**team), std::vector<Rank>{2});
    }
    if (me.rank() == 0 || me.rank() == 3) {
      EXPECT_EQ(members_of(**team), (std::vector<Rank>{0, 3}));
      EXPECT_EQ((*team)->index_of(1), kNoRank);
      EXPECT_EQ((*team)->index_of(2), kNoRank);
    }
    if (*team) {
      for (int i = 0; i < 50; ++i) ASSERT_TRUE((*team)->barrier());
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Teams, CanBeSplitAgain) {
  as_each_of(many(), 64, [](Endpoint& me) {
    std::optional<Team> team;
    Rank size = me.ranks();
    Team* parent = &me.world();
    while (size > 1) {
      auto half = parent->split(parent->index() < size / 2 ? 0 : 1, parent->index());
      ASSERT_TRUE(half && half->has_value());
      const Rank expected = parent->index() < size / 2 ? size / 2 : size - size / 2;
      ASSERT_EQ((*half)->size(), expected);
      ASSERT_TRUE((*half)->barrier());
      size = expected;
      team = std::move(*half);
      parent = &*team;
    }
    EXPECT_EQ(members_of(*team), std::vector<Rank>{me.rank()});
    EXPECT_TRUE(team->barrier());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Teams, ManyLiveAtOnceAndEndInAnyOrder) {
  as_each_of(3, 64, [](Endpoint& me) {
    for (int round = 0; round < 3; ++round) {
      std::vector<Team> teams;
      for (std::uint32_t i = 0; i < 40; ++i) {
        // Two of three ranks form a team, each time without another one.
        auto team = me.world().split(me.rank() == i % 3 ? 1 : 0, i);
        ASSERT_TRUE(team && team->has_value());
        teams.push_back(std::move(**team));
      }
      for (int phase = 0; phase < 3; ++phase) {
        for (Team& team : teams) ASSERT_TRUE(team.barrier());
      }
      for (Team& team : teams) ASSERT_TRUE(team.notify());
      for (auto team = teams.rbegin(); team != teams.rend(); ++team) ASSERT_TRUE(team->wait());
      while (teams.size() > 1) teams.erase(teams.begin() + static_cast<std::ptrdiff_t>(teams.size() / 2));
      ASSERT_TRUE(teams.front().barrier());
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Teams, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
