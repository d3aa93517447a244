#include <aqueduct/segment.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/shared.hpp"
#include "tests/conformance/victim.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <vector>

namespace aqueduct::conformance {
namespace {

class CreatedTeams : public FabricTest {};

struct CreationBoard {
  std::atomic<Rank> finished{0};
};

std::vector<Rank> first_ranks(Rank count) {
  std::vector<Rank> ranks(count);
  std::iota(ranks.begin(), ranks.end(), Rank{0});
  return ranks;
}

/// Crosses a team's barrier and checks that values are kept apart from those of other teams.
void use(Team& team, std::uint32_t value) {
  for (std::uint32_t i = 0; i < 5; ++i) ASSERT_TRUE(team.barrier(value + i));
}

TEST_P(CreatedTeams, NeedOnlyTheirMembers) {
  Shared<CreationBoard> board;
  as_each_of(5, 64, [&board](Endpoint& me) {
    const std::array<Rank, 3> ranks{4, 1, 3};
    const auto at = std::find(ranks.begin(), ranks.end(), me.rank());
    if (at == ranks.end()) {
      // Makes no progress meanwhile, because no rank needs it.
      ASSERT_TRUE(idle_until([&] { return board->finished.load() == 3; })) << "the team waited for others";
    } else {
      auto team = Team::create(me, ranks, 17);
      ASSERT_TRUE(team) << team.status().text();
      ASSERT_EQ(team->size(), 3u);
      EXPECT_EQ(team->index(), static_cast<Rank>(at - ranks.begin()));
      for (Rank i = 0; i < 3; ++i) EXPECT_EQ(team->rank_of(i), ranks[i]) << "index " << i;
      EXPECT_EQ(team->index_of(0), kNoRank);
      ASSERT_NO_FATAL_FAILURE(use(*team, 1));
      auto segment = Segment::create<std::uint64_t>(*team, 3);
      ASSERT_TRUE(segment) << segment.status().text();
      for (Rank i = 0; i < 3; ++i)
        ASSERT_TRUE(put_value(me, segment->at_member(i, team->index()), me.rank()));
      ASSERT_TRUE(team->barrier());
      for (Rank i = 0; i < 3; ++i) EXPECT_EQ(segment->mine()[i], ranks[i]);
      auto half = team->split(team->index() == 0 ? 0 : 1, 0);
      ASSERT_TRUE(half && *half);
      ASSERT_NO_FATAL_FAILURE(use(**half, 9));
      ASSERT_TRUE((*half)->end());
      ASSERT_TRUE(segment->release());
      ASSERT_TRUE(team->end());
      board->finished.fetch_add(1);
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CreatedTeams, OfTheSameRanksNeedTwoTags) {
  for (const Rank ranks : {Rank{1}, Rank{2}, Rank{5}, many()}) {
    as_each_of(ranks, 64, [](Endpoint& me) {
      const auto all = first_ranks(me.ranks());
      auto one = Team::create(me, all, 1);
      auto two = Team::create(me, all, 2);
      ASSERT_TRUE(one && two);
      EXPECT_EQ(Team::create(me, all, 1).status().code(), ErrorCode::invalid_argument);
      // Both have a phase in flight, with different values.
      ASSERT_TRUE(one->notify(10));
      ASSERT_TRUE(two->notify(20));
      ASSERT_TRUE(two->wait());
      ASSERT_TRUE(one->wait());
      ASSERT_TRUE(one->end());
      auto again = Team::create(me, all, 1);
      ASSERT_TRUE(again) << "the tag is free: " << again.status().text();
      ASSERT_NO_FATAL_FAILURE(use(*again, 30));
      ASSERT_NO_FATAL_FAILURE(use(*two, 40));
      ASSERT_TRUE(two->end());
      ASSERT_TRUE(again->end());
      ASSERT_TRUE(me.barrier());
    });
  }
}

TEST_P(CreatedTeams, ThatOverlapAreMadeInTurn) {
  as_each_of(4, 64, [](Endpoint& me) {
    std::vector<Team> teams;
    for (Rank low = 0; low < me.ranks(); ++low) {
      for (Rank high = low + 1; high < me.ranks(); ++high) {
        if (me.rank() != low && me.rank() != high) continue;
        auto team = Team::create(me, std::array<Rank, 2>{high, low}, 5);  // one tag for all: the ranks differ
        ASSERT_TRUE(team) << low << " and " << high << ": " << team.status().text();
        teams.push_back(std::move(*team));
      }
    }
    for (Team& team : teams) ASSERT_TRUE(team.notify(team.rank_of(0) * 8 + team.rank_of(1)));
    for (Team& team : teams) ASSERT_TRUE(team.wait());
    for (Team& team : teams) ASSERT_TRUE(team.end());
    ASSERT_TRUE(me.barrier());
  });
}

// The ranks hurry through their phases, so that a late packet of one team would show in the next one of that name.
TEST_P(CreatedTeams, ComeAndGoUnderOneName) {
  as_each_of(3, 64, [](Endpoint& me) {
    const auto all = first_ranks(3);
    for (std::uint32_t round = 0; round < 60; ++round) {
      auto team = Team::create(me, all, 3);
      ASSERT_TRUE(team) << "round " << round << ": " << team.status().text();
      for (std::uint32_t i = 0; i < round % 4; ++i)
        ASSERT_TRUE(team->barrier(round * 8 + i)) << "round " << round;
      if (round % 5 == 4)
        continue;  // without an end: the tag can be used again, because all have dropped the team
      ASSERT_TRUE(team->end()) << "round " << round;
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CreatedTeams, OfAWrongListAreRefusedAtOnce) {
  as_each_of(3, 64, [](Endpoint& me) {
    const auto code_of = [&me](std::vector<Rank> ranks) {
      return Team::create(me, ranks, 1).status().code();
    };
    EXPECT_EQ(code_of({}), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of({0, 1, 2, 1}), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of({0, 1, 2, 3}), ErrorCode::out_of_range);
    EXPECT_EQ(code_of({next(me), previous(me)}), ErrorCode::invalid_argument) << "without me";
    // The same ranks in different orders: all members learn of it, and can make the team afterwards.
    for (int round = 0; round < 3; ++round) {
      const std::vector<Rank> mine = me.rank() == 2 ? std::vector<Rank>{2, 1, 0} : std::vector<Rank>{0, 1, 2};
      EXPECT_EQ(Team::create(me, mine, 1).status(), Status(ErrorCode::invalid_argument, 2))
          << "round " << round;
      auto team = Team::create(me, std::array<Rank, 3>{2, 1, 0}, 1);
      ASSERT_TRUE(team) << team.status().text();
      ASSERT_NO_FATAL_FAILURE(use(*team, 1));
      ASSERT_TRUE(team->end());
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CreatedTeams, ThatHaveEndedSayClosed) {
  as_each_of(2, 64, [](Endpoint& me) {
    EXPECT_EQ(me.world().end().code(), ErrorCode::invalid_argument);
    auto split = me.world().split(0, me.rank());
    ASSERT_TRUE(split && *split);
    Team& team = **split;
    ASSERT_TRUE(team.notify());
    EXPECT_EQ(team.end().code(), ErrorCode::invalid_argument) << "a barrier is in flight";
    ASSERT_TRUE(team.wait());
    ASSERT_TRUE(team.end());
    EXPECT_EQ(team.end().code(), ErrorCode::closed);
    EXPECT_EQ(team.notify().code(), ErrorCode::closed);
    EXPECT_EQ(team.wait().code(), ErrorCode::closed);
    EXPECT_EQ(team.barrier(1).code(), ErrorCode::closed);
    EXPECT_TRUE(team.try_wait());
    EXPECT_EQ(team.barrier_nb().status().code(), ErrorCode::closed);
    EXPECT_EQ(team.split(0, 0).status().code(), ErrorCode::closed);
    EXPECT_EQ(Segment::create(team, 64).status().code(), ErrorCode::closed);
    EXPECT_EQ(team.size(), 2u);
    EXPECT_EQ(team.rank_of(1), 1u);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CreatedTeams, WithALostRankFailAndOthersDoNot) {
  if (!fabric().process_each()) GTEST_SKIP() << "a rank of a shared process cannot die alone";
  run({.ranks = 3, .leaving = {2}}, [](Endpoint& me) {
    const auto all = first_ranks(3);
    auto before = Team::create(me, all, 1);
    ASSERT_TRUE(before);
    ASSERT_TRUE(me.barrier());
    ASSERT_NO_FATAL_FAILURE(die_if(me, 2));
    // The victim does not take part. The survivors may not know of the loss yet.
    EXPECT_EQ(Team::create(me, all, 2).status(), Status(ErrorCode::peer_lost, 2));
    EXPECT_EQ(Team::create(me, all, 2).status(), Status(ErrorCode::peer_lost, 2)) << "once the loss is known";
    EXPECT_EQ(before->end().code(), ErrorCode::peer_lost);
    EXPECT_EQ(before->end().code(), ErrorCode::closed);
    auto both = Team::create(me, first_ranks(2), 2);
    ASSERT_TRUE(both) << both.status().text();
    ASSERT_NO_FATAL_FAILURE(use(*both, 1));
    ASSERT_TRUE(both->end());
  });
}

INSTANTIATE_TEST_SUITE_P(On, CreatedTeams, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
