// What teams leave behind when they end, fail or lose members.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/absences.hpp"
#include "coll/team_terms.hpp"
#include "tests/support/forked.hpp"
#include "tests/unit/coll/team_lives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace aqueduct::coll::lives {
namespace {

TEST_F(TeamLives, AThousandLeaveNothing) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    Barriers& barriers = *ep.state().barriers;
    const std::array<Rank, 3> all{2, 0, 1};
    const std::size_t places = ep.state().layer<Collectives>()->memory().places();
    std::set<std::uint64_t> ids;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      auto team = Team::create(ep, all, i % 2);
      ASSERT_TRUE(team) << i << ": " << team.status().text();
      ASSERT_TRUE(ids.insert(team->state().id).second) << i << ": the number of a team is used again";
      ASSERT_TRUE(team->barrier(static_cast<std::uint32_t>(i)));
      ASSERT_TRUE(team->end());
      ASSERT_EQ(barriers.names().kept(), 0u);
    }
    ASSERT_TRUE(ep.barrier());
    EXPECT_EQ(barriers.exchanges().kept(), 0u);
    EXPECT_EQ(barriers.kept(), 1u) << "the team of all ranks";
    EXPECT_EQ(ep.state().layer<Collectives>()->memory().places(), places);
  });
}

// Whatever makes them: teams whose ranks are at equal distances take no list of their members.
TEST_F(TeamLives, OfEqualDistancesStoreNoList) {
  start(4);
  job_->run_each([](Endpoint& ep) {
    const auto falling = RankList::range(3, 0, -1);
    ASSERT_TRUE(falling);
    auto split = ep.world().split(*falling);
    ASSERT_TRUE(split && *split);
    auto second = (*split)->dup();
    ASSERT_TRUE(second);
    auto made = Team::create(ep, *RankList::range(ep.rank() % 2, 3, 2), 8);
    ASSERT_TRUE(made);
    auto parts = ep.world().split(ep.rank() % 2, 0);
    ASSERT_TRUE(parts && *parts);
    for (Team* team : {&ep.world(), &**split, &*second, &*made, &**parts}) {
      EXPECT_FALSE(team->state().members.is_listed());
      const auto list = team->rank_list();
      ASSERT_TRUE(list);
      EXPECT_EQ(list->size(), team->size());
      EXPECT_EQ(list->rank_of(team->index()), ep.rank());
    }
    EXPECT_EQ(made->compare(**parts), Likeness::same);
    for (Team* team : {&**parts, &*made, &*second, &**split}) ASSERT_TRUE(team->end());
    ASSERT_TRUE(ep.barrier());
  });
}

TEST_F(TeamLives, ThatSplitByListsThatDifferLeaveNothing) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    Barriers& barriers = *ep.state().barriers;
    const std::size_t places = ep.state().layer<Collectives>()->memory().places();
    for (int round = 0; round < 20; ++round) {
      const auto list = ep.rank() == 1 ? RankList::range(0, 2) : RankList::range(2, 0, -1);
      ASSERT_TRUE(list);
      EXPECT_EQ(ep.world().split(*list).status(), Status(ErrorCode::mismatch, 1)) << "round " << round;
      const auto strange = RankList::range(0, ep.rank() == 1 ? 3 : 2);
      ASSERT_TRUE(strange);
      EXPECT_EQ(ep.world().split(*strange).status(), Status(ErrorCode::invalid_argument, 3))
          << "round " << round;
    }
    ASSERT_TRUE(ep.barrier());
    EXPECT_EQ(barriers.exchanges().kept(), 0u);
    EXPECT_EQ(barriers.kept(), 1u) << "the team of all ranks";
    EXPECT_EQ(ep.state().layer<Collectives>()->memory().places(), places);
  });
}

TEST_F(TeamLives, WithoutAnEndLeaveACountForEachName) {
  start(2);
  job_->run_each([](Endpoint& ep) {
    const std::array<Rank, 2> all{0, 1};
    for (std::uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(Team::create(ep, all, i % 5)) << i;
    EXPECT_EQ(ep.state().barriers->names().kept(), 5u);
    ASSERT_TRUE(ep.barrier());
  });
}

// If one member cannot say that all it has sent has arrived, no member's place goes to another team.
TEST_F(TeamLives, EndWellOnlyIfAllMembersSaySo) {
  start(5);
  job_->run_each([](Endpoint& ep) {
    Barriers& barriers = *ep.state().barriers;
    const std::array<Rank, 5> all{0, 1, 2, 3, 4};
    for (Rank unwell = 0; unwell < 5; ++unwell) {
      auto team = Team::create(ep, all, unwell);
      ASSERT_TRUE(team) << team.status().text();
      ASSERT_TRUE(team->barrier(7));
      EXPECT_EQ(barriers.agree_to_end(team->state(), ep.rank() != unwell).code(), ErrorCode::mismatch);
    }
    auto team = Team::create(ep, all, 99);
    ASSERT_TRUE(team) << team.status().text();
    EXPECT_TRUE(barriers.agree_to_end(team->state(), true));
    ASSERT_TRUE(ep.barrier());
  });
}

TEST_F(TeamLives, ThatEndGiveTheirMemoryBackAndDestroyedOnesDoNot) {
  start(2);
  job_->run_each([](Endpoint& ep) {
    HiddenMemory& memory = ep.state().layer<Collectives>()->memory();
    const std::array<Rank, 2> all{0, 1};
    EXPECT_EQ(memory.places(), 0u);
    {
      auto team = Team::create(ep, all, 1);
      ASSERT_TRUE(team) << team.status().text();
      auto half = team->split(ep.rank() == 0 ? std::optional<std::uint32_t>(3) : std::nullopt, 0);
      ASSERT_TRUE(half) << half.status().text();
      EXPECT_EQ(memory.places(), 1u) << "a team of one takes nothing, nor does who has no colour";
      if (*half) {
        EXPECT_TRUE((*half)->end());
      }
      EXPECT_EQ(memory.places(), 1u);
    }
    EXPECT_EQ(memory.places(), 1u) << "the peer may still write there";
    const std::array<Rank, 2> other{1, 0};
    EXPECT_EQ(Team::create(ep, ep.rank() == 0 ? all : other, 2).status().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(memory.places(), 1u) << "a team that nobody makes has no place";
    ASSERT_TRUE(ep.barrier());
  });
}

// The signal behind a put of several blocks follows when all of them have arrived, which may be after the Team is gone. That nothing
// reads the Team then the address sanitizer sees.
TEST_F(TeamLives, ThatAreDestroyedBeforeTheirPutsHaveArrivedAreNotReadAnyMore) {
  constexpr Rank kRanks = 4;
  support::start_over_loop(job_, kRanks, {{"coll_scatter", "k-nomial:2"}});
  std::array<std::optional<Team>, kRanks> teams;
  job_->run_each([&](Endpoint& ep) {
    auto made = ep.world().dup();
    ASSERT_TRUE(made) << made.status().text();
    teams[ep.rank()].emplace(std::move(*made));
    ASSERT_TRUE(ep.barrier());
  });
  const std::array<std::uint64_t, kRanks> blocks{10, 11, 12, 13};
  std::array<std::array<std::uint64_t, 1>, kRanks> outputs{};
  std::array<Event, kRanks> events;
  CollOptions options;
  options.in = Sync::none;
  options.out = Sync::mine;
  for (Rank rank = 0; rank < kRanks; ++rank)
    events[rank] = scatter_nb(*teams[rank], blocks, outputs[rank], 0, options);
  ASSERT_FALSE(events[0].done()) << "nobody has taken the blocks yet";
  teams[0].reset();
  const auto all_over = [&] {
    return std::all_of(events.begin(), events.end(), [](const Event& one) { return one.done(); });
  };
  for (int turns = 0; turns < 1000 && !all_over(); ++turns) {
    for (Rank rank = 0; rank < kRanks; ++rank) job_->endpoint(rank).progress();
  }
  EXPECT_EQ(events[0].done() ? events[0].status() : Status(), Status(ErrorCode::closed));
  for (Rank rank = 1; rank < kRanks; ++rank) {
    ASSERT_TRUE(events[rank].done()) << "the block of rank " << rank << " has not come";
    EXPECT_TRUE(events[rank].status()) << events[rank].status().text();
    EXPECT_EQ(outputs[rank][0], blocks[rank]);
  }
}

// The members of a split take places for the new team, whose size they know, not for the one that is split.
TEST_F(TeamLives, ThatASplitMakesTakeWhatTheyNeed) {
  start(6);
  job_->run_each([](Endpoint& ep) {
    HiddenMemory& memory = ep.state().layer<Collectives>()->memory();
    std::vector<Team> teams;
    for (int i = 0; i < 300; ++i) {  // so that the later ones get the least
      const std::uint64_t free = memory.free_bytes();
      auto team = ep.world().split(ep.rank() < 2 ? 0 : 1, 0);
      ASSERT_TRUE(team && *team);
      const ScratchRoom least = least_room((*team)->size());
      ASSERT_GE(free - memory.free_bytes(), least.bytes);
      if (i == 299) {
        EXPECT_EQ(free - memory.free_bytes(), least.bytes) << (*team)->size() << " members";
      }
      teams.push_back(std::move(**team));
    }
    for (Team& team : teams) ASSERT_TRUE(team.end());
    EXPECT_EQ(memory.places(), 0u);
    ASSERT_TRUE(ep.barrier());
  });
}

// A failure in the middle of the last exchange is known to rank 1 alone: rank 0 has the team, and may write to rank 1.
TEST_F(TeamLives, AFailureThatOthersMayNotKnowKeepsThePlace) {
  start(2);
  constexpr std::uint64_t kTag = 7;
  const std::array<Rank, 2> all{0, 1};
  say_that_an_exchange_failed(TeamNames::of(kTag, all), 2);
  job_->run_each([&](Endpoint& ep) {
    HiddenMemory& memory = ep.state().layer<Collectives>()->memory();
    auto team = Team::create(ep, all, kTag);
    if (ep.rank() == 1) {
      EXPECT_EQ(team.status(), Status(ErrorCode::no_memory, 0));
    } else {
      ASSERT_TRUE(team) << team.status().text();
      // The other one has said that it has none, so nobody waits for it.
      std::uint64_t word = 1;
      EXPECT_EQ(all_reduce(*team, std::span(&word, 1), ReduceOp::sum), Status(ErrorCode::mismatch, 1));
    }
    EXPECT_EQ(memory.places(), 1u);
    ASSERT_TRUE(ep.barrier());
  });
}

// Then nobody has the team, so no member's place is lost.
TEST_F(TeamLives, AFailureThatAMemberTellsGivesThePlacesBack) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    aqueduct::detail::EndpointState& state = ep.state();
    TeamState& world = state.world->state();
    HiddenMemory& memory = state.layer<Collectives>()->memory();
    for (std::uint64_t id = 1; id <= 20; ++id) {
      auto team = std::make_unique<TeamState>(state, id, aqueduct::team::RankMap::world(3));
      TeamState& made = *team;
      const Team holder(std::move(team));
      const TeamTerms terms = prepare_team(made);
      EXPECT_EQ(memory.places(), 1u);
      const Status here = ep.rank() == 1 ? Status(ErrorCode::no_memory) : Status();
      EXPECT_EQ(settle_team(&made, world, barrier_of(world)->exchanges, terms, here),
                Status(ErrorCode::no_memory, 1));
      EXPECT_EQ(memory.places(), 0u);
    }
    ASSERT_TRUE(ep.barrier());
  });
}

// The others exchange once, and a split twice: it must not wait for them.
TEST_F(TeamLives, ASplitThatMeetsAnotherExchangeIsAMismatch) {
  start(2);
  job_->run_each([](Endpoint& ep) {
    for (const Rank splits : {Rank{0}, Rank{1}, Rank{0}}) {
      auto team = ep.world().dup();
      ASSERT_TRUE(team);
      if (ep.rank() == splits) {
        // Rank 0 has heard of nothing that rank 1 gives, or rank 1 of nothing that anybody gives.
        EXPECT_EQ(team->split(0, 0).status(), Status(ErrorCode::mismatch, 1 - splits));
      } else {
        EXPECT_EQ(ep.state().barriers->exchanges().agree(team->state(), {}),
                  Status(ErrorCode::mismatch, splits));
      }
      auto next = team->dup();  // the exchanges are in step
      ASSERT_TRUE(next);
      EXPECT_TRUE(next->end());
      EXPECT_TRUE(team->end());
      ASSERT_TRUE(ep.barrier());
    }
  });
}

// It made the team, but had no memory for the last step. What others say and wait for ends with its reason.
TEST_F(TeamLives, AMemberThatDoesNotHaveTheTeamCountsAsLost) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    auto made = ep.world().dup();
    ASSERT_TRUE(made && ep.barrier());
    if (ep.rank() == 1) {
      EXPECT_TRUE(Absences::tell(made->state(), ErrorCode::no_memory));
    } else {
      const Status absent(ErrorCode::no_memory, 1);
      EXPECT_EQ(made->barrier(), absent);
      EXPECT_EQ(Segment::create(*made, 64).status(), absent);
      EXPECT_EQ(made->end(), absent);
    }
    EXPECT_TRUE(ep.barrier());
  });
}

// Others may leave only because of the first loss.
TEST_F(TeamLives, ALossIsThatOfTheFirstLostMember) {
  start(4);
  aqueduct::detail::EndpointState& state = job_->endpoint(1).state();
  state.peer_lost(2);
  state.peer_lost(0);
  EXPECT_EQ(state.world->state().loss(), Status(ErrorCode::peer_lost, 2));
}

TEST_F(TeamLives, InAForkedChildAreRefused) {
  start(2);
  Endpoint& ep = job_->endpoint(0);
  auto memory = Segment::allocate(ep, 4096);
  ASSERT_TRUE(memory);
  EXPECT_EQ(
      support::in_a_child([&] {
        const std::array<Rank, 2> all{0, 1};
        if (Team::create(ep, all, 1).status().code() != ErrorCode::invalid_argument) return 1;
        if (ep.world().barrier(5).code() != ErrorCode::invalid_argument) return 2;
        if (ep.world().barrier_nb().status().code() != ErrorCode::invalid_argument) return 3;
        if (ep.world().end().code() != ErrorCode::invalid_argument) return 4;
        if (Segment::allocate(ep, 64).status().code() != ErrorCode::invalid_argument) return 5;
        if (Segment::publish(ep.world(), std::move(memory)).status().code() != ErrorCode::invalid_argument)
          return 6;
        if (Segment::most_bytes(ep).rank != 0) return 7;
        if (map_all(ep) != 0 || is_mapped(ep, 0) || base_of(ep, 0) != 0) return 8;
        return 0;
      }),
      0);
}

}  // namespace
}  // namespace aqueduct::coll::lives
