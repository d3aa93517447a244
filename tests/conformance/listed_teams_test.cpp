#include <aqueduct/coll.hpp>
#include <aqueduct/rank_list.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// Teams made of lists of ranks, second teams of the same members, and what teams say of their members.
class ListedTeams : public FabricTest {};

/// A list that can be made.
RankList known_list(const std::vector<Rank>& ranks) {
  auto list = RankList::of(ranks);
  EXPECT_TRUE(list) << list.status().text();
  return list ? *list : RankList();
}

/// All ranks of the job, the last one first.
RankList falling_list(const Endpoint& me) { return *RankList::range(me.ranks() - 1, 0, -1); }

std::vector<Rank> listed_ranks(const RankList& list) {
  std::vector<Rank> ranks;
  for (Rank i = 0; i < list.size(); ++i) ranks.push_back(list.rank_of(i));
  return ranks;
}

/// Checks the members of a team, and that its barriers and collective calls work.
void expect_team(Endpoint& me, Team& team, const std::vector<Rank>& ranks) {
  ASSERT_EQ(team.size(), ranks.size());
  for (Rank i = 0; i < team.size(); ++i) EXPECT_EQ(team.rank_of(i), ranks[i]) << "index " << i;
  EXPECT_EQ(team.rank_of(team.index()), me.rank());
  const auto list = team.rank_list();
  ASSERT_TRUE(list) << list.status().text();
  EXPECT_EQ(listed_ranks(*list), ranks);
  for (std::uint32_t value = 0; value < 3; ++value) ASSERT_TRUE(team.barrier(value));
  std::uint64_t expected = 0;
  for (const Rank rank : ranks) expected += rank + 1;
  std::vector<std::uint64_t> sum(1, me.rank() + 1);
  const Status status = all_reduce(team, sum, ReduceOp::sum);
  ASSERT_TRUE(status) << status.text();
  EXPECT_EQ(sum.front(), expected);
}

TEST_P(ListedTeams, AreMadeByTheListedRanksAlone) {
  as_each_of(4, 64, [](Endpoint& me) {
    const RankList list = known_list({3, 0, 1});
    if (list.contains(me.rank())) {
      auto team = Team::create(me, list, 12);
      ASSERT_TRUE(team) << team.status().text();
      ASSERT_NO_FATAL_FAILURE(expect_team(me, *team, {3, 0, 1}));
      ASSERT_TRUE(team->end());
    }
    EXPECT_EQ(Team::create(me, RankList(), 1).status().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(Team::create(me, *RankList::range(0, 4), 1).status(), Status(ErrorCode::out_of_range, 4));
    EXPECT_EQ(Team::create(me, *RankList::range(0, 4000000000), 1).status(),
              Status(ErrorCode::out_of_range, 4));
    const auto others = me.world().rank_list()->difference_with(known_list({me.rank()}));
    ASSERT_TRUE(others);
    EXPECT_EQ(Team::create(me, *others, 1).status(), Status(ErrorCode::invalid_argument, me.rank()));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ListedTeams, AreMadeByAllMembersOfATeam) {
  as_each_of(4, 64, [](Endpoint& me) {
    const RankList list = known_list({2, 3, 0});
    auto part = me.world().split(list);
    ASSERT_TRUE(part) << part.status().text();
    ASSERT_EQ(part->has_value(), me.rank() != 1);
    if (*part) {
      Team& team = **part;
      ASSERT_NO_FATAL_FAILURE(expect_team(me, team, {2, 3, 0}));
      // A team in the team, with its members' ranks in the job.
      auto inner = team.split(known_list({0, 2}));
      ASSERT_TRUE(inner) << inner.status().text();
      ASSERT_EQ(inner->has_value(), me.rank() != 3);
      if (*inner) {
        ASSERT_NO_FATAL_FAILURE(expect_team(me, **inner, {0, 2}));
        ASSERT_TRUE((*inner)->end());
      }
      ASSERT_TRUE(team.end());
      EXPECT_EQ(team.split(list).status().code(), ErrorCode::closed);
    }
    auto none = me.world().split(RankList());
    ASSERT_TRUE(none) << none.status().text();
    EXPECT_FALSE(none->has_value());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ListedTeams, OfStrangersAreRefusedOnAllMembers) {
  as_each_of(3, 64, [](Endpoint& me) {
    Team& world = me.world();
    const Status stranger(ErrorCode::invalid_argument, 7);
    EXPECT_EQ(world.split(known_list({0, 7})).status(), stranger);
    EXPECT_EQ(
        world.split(known_list(me.rank() == 2 ? std::vector<Rank>{0, 7} : std::vector<Rank>{0, 1})).status(),
        stranger)
        << "one member alone names it";
    EXPECT_EQ(world.split(*RankList::range(0, 4000000000)).status(), Status(ErrorCode::invalid_argument, 3));
    // A rank of the job that is not in the team.
    auto pair = world.split(me.rank() == 1 ? std::nullopt : std::optional<std::uint32_t>(0), 0);
    ASSERT_TRUE(pair) << pair.status().text();
    if (*pair) {
      EXPECT_EQ((*pair)->split(known_list({0, 1})).status(), Status(ErrorCode::invalid_argument, 1));
      ASSERT_NO_FATAL_FAILURE(expect_team(me, **pair, {0, 2}));
      ASSERT_TRUE((*pair)->end());
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ListedTeams, OfListsThatDifferAreRefusedOnAllMembers) {
  as_each_of(3, 64, [](Endpoint& me) {
    Team& world = me.world();
    const RankList list = known_list({0, 1}), reversed = known_list({1, 0});
    for (Rank odd = 0; odd < 3; ++odd) {
      // The first member that differs from member 0.
      const Status mismatch(ErrorCode::mismatch, odd == 0 ? 1 : odd);
      EXPECT_EQ(world.split(me.rank() == odd ? reversed : list).status(), mismatch) << "member " << odd;
      const Status of_dup = me.rank() == odd ? world.dup().status() : world.split(0, 0).status();
      EXPECT_EQ(of_dup, mismatch) << "member " << odd;
      const Status of_colours = me.rank() == odd ? world.split(list).status() : world.split({}, 0).status();
      EXPECT_EQ(of_colours, mismatch) << "member " << odd;
    }
    auto all = world.split(falling_list(me));
    ASSERT_TRUE(all && *all) << all.status().text();
    ASSERT_NO_FATAL_FAILURE(expect_team(me, **all, {2, 1, 0}));
    ASSERT_TRUE((*all)->end());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ListedTeams, AndTheirSecondsAreKeptApart) {
  for (const Rank ranks : {Rank{1}, Rank{3}}) {
    as_each_of(ranks, 64, [](Endpoint& me) {
      const std::vector<Rank> falling = listed_ranks(falling_list(me));
      auto first = me.world().split(falling_list(me));
      ASSERT_TRUE(first && *first) << first.status().text();
      Team& team = **first;
      auto second = team.dup();
      ASSERT_TRUE(second) << second.status().text();
      auto third = second->dup();
      ASSERT_TRUE(third) << third.status().text();
      EXPECT_EQ(team.compare(*second), Likeness::same);
      EXPECT_EQ(second->compare(*third), Likeness::same);
      // All have a barrier in flight, with different values, and end it in another order.
      ASSERT_TRUE(team.notify(1));
      ASSERT_TRUE(second->notify(2));
      ASSERT_TRUE(third->notify(3));
      ASSERT_TRUE(third->wait());
      ASSERT_TRUE(team.wait());
      ASSERT_TRUE(second->wait());
      ASSERT_TRUE(team.end());
      ASSERT_NO_FATAL_FAILURE(expect_team(me, *second, falling));
      ASSERT_TRUE(second->end());
      EXPECT_EQ(second->dup().status().code(), ErrorCode::closed);
      ASSERT_NO_FATAL_FAILURE(expect_team(me, *third, falling));
      ASSERT_TRUE(third->end());
      // Of the team of all ranks, which itself cannot end.
      auto world = me.world().dup();
      ASSERT_TRUE(world) << world.status().text();
      EXPECT_EQ(world->compare(me.world()), Likeness::same);
      ASSERT_TRUE(world->barrier());
      ASSERT_TRUE(world->end());
      ASSERT_TRUE(me.barrier());
    });
  }
}

TEST_P(ListedTeams, SayWhoSharesAHost) {
  as_each_of(many(), 64, [](Endpoint& me) {
    auto made = me.world().split(falling_list(me));
    ASSERT_TRUE(made && *made) << made.status().text();
    for (Team* team : {&me.world(), &**made}) {
      std::vector<Rank> here, leaders;
      for (Rank i = 0; i < team->size(); ++i) {
        const Rank rank = team->rank_of(i);
        if (me.is_neighbour(rank)) here.push_back(rank);
        const bool known =
            std::ranges::any_of(leaders, [&](Rank leader) { return me.host_of(leader) == me.host_of(rank); });
        if (!known) leaders.push_back(rank);
      }
      const auto on_my_host = team->on_my_host();
      ASSERT_TRUE(on_my_host) << on_my_host.status().text();
      EXPECT_EQ(listed_ranks(*on_my_host), here);
      const auto host_leaders = team->host_leaders();
      ASSERT_TRUE(host_leaders) << host_leaders.status().text();
      EXPECT_EQ(listed_ranks(*host_leaders), leaders);
      // A team of each: the one is made by its members alone, the other one by all.
      auto house = Team::create(me, *on_my_host, 3);
      ASSERT_TRUE(house) << house.status().text();
      ASSERT_NO_FATAL_FAILURE(expect_team(me, *house, here));
      ASSERT_TRUE(house->end());
      auto heads = team->split(*host_leaders);
      ASSERT_TRUE(heads) << heads.status().text();
      ASSERT_EQ(heads->has_value(), host_leaders->contains(me.rank()));
      if (*heads) {
        ASSERT_NO_FATAL_FAILURE(expect_team(me, **heads, leaders));
        ASSERT_TRUE((*heads)->end());
      }
    }
    ASSERT_TRUE((*made)->end());
    EXPECT_EQ((*made)->on_my_host().status().code(), ErrorCode::closed);
    EXPECT_EQ((*made)->host_leaders().status().code(), ErrorCode::closed);
    EXPECT_EQ(listed_ranks(*(*made)->rank_list()), listed_ranks(falling_list(me)));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ListedTeams, TranslateAndCompareTheirMembers) {
  as_each_of(4, 64, [](Endpoint& me) {
    Team& world = me.world();
    auto made = world.split(falling_list(me));
    ASSERT_TRUE(made && *made) << made.status().text();
    Team& falling = **made;
    auto parts = world.split(me.rank() % 2, 0);
    ASSERT_TRUE(parts && *parts) << parts.status().text();
    Team& half = **parts;  // 0 and 2, or 1 and 3
    const Rank mine = me.rank() % 2;

    std::array<Rank, 5> indices{0, 1, 2, 3, kNoRank};
    std::array<Rank, 5> found{};
    ASSERT_TRUE(world.translate(indices, falling, found));
    EXPECT_EQ(found, (std::array<Rank, 5>{3, 2, 1, 0, kNoRank}));
    ASSERT_TRUE(falling.translate(indices, half, found));
    EXPECT_EQ(found, mine == 0 ? (std::array<Rank, 5>{kNoRank, 1, kNoRank, 0, kNoRank})
                               : (std::array<Rank, 5>{1, kNoRank, 0, kNoRank, kNoRank}));
    ASSERT_TRUE(half.translate(std::span(indices).first(2), world, std::span(found).first(2)));
    EXPECT_EQ(found[0], mine);
    EXPECT_EQ(found[1], mine + 2);
    EXPECT_EQ(half.translate(indices, world, found).code(), ErrorCode::out_of_range);
    EXPECT_EQ(world.translate(indices, half, std::span(found).first(2)).code(), ErrorCode::invalid_argument);

    EXPECT_EQ(world.compare(world), Likeness::same);
    EXPECT_EQ(world.compare(falling), Likeness::reordered);
    EXPECT_EQ(falling.compare(world), Likeness::reordered);
    EXPECT_EQ(world.compare(half), Likeness::different);
    EXPECT_EQ(half.compare(falling), Likeness::different);
    ASSERT_TRUE(half.end());
    ASSERT_TRUE(falling.end());
    EXPECT_EQ(world.compare(falling), Likeness::reordered) << "also when it has ended";
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, ListedTeams, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
