#include "core/barrier_vote.hpp"
#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/victim.hpp"

#include <algorithm>
#include <limits>
#include <optional>

namespace aqueduct::conformance {
namespace {

class BarrierValues : public FabricTest {};

using SaidValue = std::optional<std::uint32_t>;

Status cross(Team& team, SaidValue value) { return value ? team.barrier(*value) : team.barrier(); }

TEST_P(BarrierValues, ThatAreEqualPass) {
  for (const Rank ranks : {Rank{1}, Rank{2}, Rank{5}, many()}) {
    as_each_of(ranks, 64, [](Endpoint& me) {
      for (const std::uint32_t value : {0u, 1u, 0x80000000u, 0xffffffffu, 7u})
        ASSERT_TRUE(me.world().barrier(value)) << "value " << value;
      ASSERT_TRUE(me.barrier());
    });
  }
}

TEST_P(BarrierValues, OfWhichOneDiffersAreReportedToAll) {
  for (const Rank ranks : {Rank{2}, Rank{5}, many()}) {
    as_each_of(ranks, 64, [](Endpoint& me) {
      for (Rank odd = 0; odd < me.ranks(); ++odd) {
        const Status status = me.world().barrier(me.rank() == odd ? 0 : 1);  // 0 is a value like any other
        ASSERT_EQ(status, Status(ErrorCode::mismatch)) << "rank " << odd << " gave another value";
        ASSERT_TRUE(me.world().barrier(odd)) << "after a mismatch";
      }
      ASSERT_TRUE(me.barrier());
    });
  }
}

TEST_P(BarrierValues, AgreeWithThoseWhoGiveNone) {
  for (const Rank ranks : {Rank{2}, Rank{5}}) {
    as_each_of(ranks, 64, [](Endpoint& me) {
      for (Rank one = 0; one < me.ranks(); ++one) {
        ASSERT_TRUE(cross(me.world(), me.rank() == one ? SaidValue(one) : SaidValue()))
            << "only rank " << one << " gives one";
        ASSERT_TRUE(cross(me.world(), me.rank() == one ? SaidValue() : SaidValue(5)))
            << "rank " << one << " gives none";
      }
      ASSERT_TRUE(me.barrier());
    });
  }
}

/// What a rank gives in a round; all ranks can compute it.
SaidValue given(std::uint64_t seed, std::uint64_t round, Rank rank) {
  const std::uint64_t random = mix(seed + round * 64 + rank);
  if (random % 4 == 0) return {};
  return static_cast<std::uint32_t>(random % 64 < 62 ? round : random);
}

Status expected_of(std::uint64_t seed, std::uint64_t round, const Team& team) {
  core::BarrierVote all;
  for (Rank i = 0; i < team.size(); ++i) {
    const SaidValue value = given(seed, round, team.rank_of(i));
    all.merge(value ? core::BarrierVote(*value) : core::BarrierVote());
  }
  return all.is_mismatch() ? ErrorCode::mismatch : ErrorCode::ok;
}

// The whole job may have a barrier of the conduit's own; the other teams use messages.
TEST_P(BarrierValues, AtRandomAreMergedAlikeOnEveryTeam) {
  for (const Rank ranks : {Rank{2}, Rank{5}, many()}) {
    as_each_of(ranks, 64, [seed = seed()](Endpoint& me) {
      auto turned = me.world().split(0, -std::int64_t{me.rank()});
      auto part = me.world().split(me.rank() % 2, me.rank());
      ASSERT_TRUE(turned && *turned && part && *part);
      for (std::uint64_t round = 1; round <= 30; ++round) {
        for (Team* team : {&me.world(), &**turned, &**part}) {
          ASSERT_EQ(cross(*team, given(seed, round, me.rank())), expected_of(seed, round, *team))
              << "round " << round << " of a team of " << team->size();
        }
      }
      ASSERT_TRUE(me.barrier());
    });
  }
}

TEST_P(BarrierValues, TravelWithNotify) {
  as_each_of(3, 64, [](Endpoint& me) {
    Team& world = me.world();
    for (std::uint32_t round = 0; round < 30; ++round) {
      ASSERT_TRUE(world.notify(round % 3 == 0 ? me.rank() : round));
      EXPECT_EQ(world.notify(1).code(), ErrorCode::invalid_argument) << "the last one was not waited for";
      ASSERT_TRUE(progress_until(me, [&] { return world.try_wait(); }));
      ASSERT_EQ(world.wait().code(), round % 3 == 0 ? ErrorCode::mismatch : ErrorCode::ok)
          << "round " << round;
      EXPECT_EQ(world.wait().code(), ErrorCode::invalid_argument);
    }
    ASSERT_TRUE(me.barrier());
  });
}

// Of the whole job, for which a conduit may have a barrier, and of a team for which it has none.
TEST_P(BarrierValues, AreReadByAllMembersAfterwards) {
  for (const Rank ranks : {Rank{1}, Rank{2}, Rank{5}}) {
    as_each_of(ranks, 64, [](Endpoint& me) {
      auto turned = me.world().split(0, -std::int64_t{me.rank()});
      ASSERT_TRUE(turned && *turned);
      for (Team* team : {&me.world(), &**turned}) {
        EXPECT_EQ(team->agreed(), std::nullopt) << "before the first";
        for (std::uint32_t round = 0; round < 6; ++round) {
          const bool gives = team->index() == round % team->size();
          ASSERT_TRUE(cross(*team, gives ? SaidValue(round) : SaidValue()));
          EXPECT_EQ(team->agreed(), round);
          ASSERT_TRUE(gives ? team->notify(~round) : team->notify());
          ASSERT_TRUE(team->wait());
          EXPECT_EQ(team->agreed(), ~round);
          ASSERT_TRUE(team->barrier());
          EXPECT_EQ(team->agreed(), std::nullopt) << "nobody gave one";
        }
        if (team->size() == 1) continue;
        ASSERT_EQ(team->barrier(team->index()).code(), ErrorCode::mismatch);
        EXPECT_EQ(team->agreed(), std::nullopt) << "they differ";
      }
      ASSERT_TRUE(me.barrier());
    });
  }
}

TEST_P(BarrierValues, MayBeWithoutAgreementByOneMember) {
  for (const Rank ranks : {Rank{1}, Rank{2}, Rank{5}}) {
    as_each_of(ranks, 64, [](Endpoint& me) {
      auto turned = me.world().split(0, -std::int64_t{me.rank()});
      ASSERT_TRUE(turned && *turned);
      for (Team* team : {&me.world(), &**turned}) {
        for (Rank one = 0; one < team->size(); ++one) {
          ASSERT_TRUE(team->index() == one ? team->disagree()
                      : one % 2 == 0       ? team->notify(7)
                                           : team->notify());
          EXPECT_EQ(team->wait().code(), ErrorCode::mismatch) << "member " << one << " disagrees";
          ASSERT_TRUE(team->barrier(one)) << "after a mismatch";
        }
      }
      ASSERT_TRUE(me.barrier());
    });
  }
}

TEST_P(BarrierValues, OfALostRankAreNoMismatch) {
  if (!fabric().process_each()) GTEST_SKIP() << "a rank of a shared process cannot die alone";
  run({.ranks = 3, .leaving = {2}}, [](Endpoint& me) {
    ASSERT_TRUE(me.world().barrier(3));
    ASSERT_NO_FATAL_FAILURE(die_if(me, 2));
    EXPECT_EQ(me.world().barrier(me.rank()).code(), ErrorCode::peer_lost);
    EXPECT_EQ(me.world().barrier(4).code(), ErrorCode::peer_lost);
    EXPECT_EQ(me.world().agreed(), std::nullopt);
  });
}

TEST_P(BarrierValues, KeysOfASplitMayBeNegative) {
  as_each_of(4, 64, [](Endpoint& me) {
    constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
    const std::int64_t keys[] = {3, -5, kLeast, -5};
    auto team = me.world().split(1, keys[me.rank()]);
    ASSERT_TRUE(team && *team);
    const Rank order[] = {2, 1, 3, 0};
    for (Rank i = 0; i < 4; ++i) EXPECT_EQ((*team)->rank_of(i), order[i]) << "index " << i;
    ASSERT_TRUE((*team)->barrier());
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, BarrierValues, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
