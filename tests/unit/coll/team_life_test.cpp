// What teams leave behind, and what peers say that no correct peer says.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/absences.hpp"
#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/team_terms.hpp"
#include "coll/wire.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

class TeamLives : public testing::Test {
 protected:
  void start(Rank ranks, const char* operations = "1024", const char* native = "rma") {
    Config config;
    ASSERT_TRUE(config.set("conduit", "loop"));
    ASSERT_TRUE(config.set("near", "off"));
    ASSERT_TRUE(config.set("operations", operations));
    ASSERT_TRUE(config.set("loop_native", native));
    ASSERT_TRUE(config.set("segment_bytes", "4K"));
    ASSERT_TRUE(config.set("log", "off"));
    auto made = Job::in_process(ranks, config);
    ASSERT_TRUE(made);
    job_.emplace(std::move(*made));
  }
  /// Takes the scratch of the team of all ranks away, as if it had none: its barriers then go by messages.
  void without_scratch() {
    for (std::size_t rank = 0; rank < job_->endpoints(); ++rank) {
      aqueduct::detail::EndpointState& state = job_->endpoint(rank).state();
      state.layer<Collectives>()->leave(state.world->state(), /*together=*/false);
    }
  }
  /// Delivers an arrival to rank 0 as if rank 1 had sent it.
  void say(const Arrival& arrival) {
    const am::PacketHeader header{
        am::PacketKind::request, AmCategory::short_request, kArrive, 0, sizeof arrival, 0, 0};
    std::vector<std::byte> packet(sizeof header + sizeof arrival);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, &arrival, sizeof arrival);
    job_->endpoint(0).state().messages->packet(1, packet);
  }

  /// Delivers to rank 1, as if rank 0 had sent it, that rank 0 has failed in the second round of an exchange.
  void say_that_an_exchange_failed(std::uint64_t team, std::uint64_t number) {
    const ExchangePiece piece{team, number, kDown, static_cast<std::uint32_t>(ErrorCode::no_memory), 0, 0};
    const am::PacketHeader header{
        am::PacketKind::request, AmCategory::medium_request, kExchange, 0, sizeof piece, 0, 0};
    std::vector<std::byte> packet(sizeof header + sizeof piece);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, &piece, sizeof piece);
    job_->endpoint(1).state().messages->packet(0, packet);
  }

  std::optional<Job> job_;
};

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

TEST_F(TeamLives, AnArrivalInARoundThatNoTeamHasIsRejected) {
  start(2);
  say({0, 1, 1, 0, 0, 0});  // two ranks have one round, number 0
  EXPECT_EQ(job_->endpoint(0).statistics().rejected, 1u);
  say({0, 1, UINT32_MAX, 0, 0, 0});
  EXPECT_EQ(job_->endpoint(0).statistics().rejected, 2u);
}

// A vote that does not exist must not pass for agreement.
TEST_F(TeamLives, AForgedVoteIsAMismatch) {
  start(2);
  without_scratch();
  Team& world = job_->endpoint(0).world();
  ASSERT_TRUE(world.notify(3));
  EXPECT_FALSE(world.try_wait());
  say({0, 1, 0, 77, 3, 0});
  EXPECT_EQ(world.wait().code(), ErrorCode::mismatch);
}

// Packets may overtake each other: the arrival at the next phase comes first.
TEST_F(TeamLives, ArrivalsAtTwoPhasesAreKeptApart) {
  start(2);
  without_scratch();
  Team& world = job_->endpoint(0).world();
  say({0, 2, 0, 1, 20, 0});
  ASSERT_TRUE(world.notify(10));
  EXPECT_FALSE(world.try_wait()) << "the arrival at phase 1 is still missing";
  say({0, 1, 0, 1, 10, 0});
  ASSERT_TRUE(world.wait());
  ASSERT_TRUE(world.barrier(20));
}

TEST_F(TeamLives, WithoutScratchHaveBarriersByMessages) {
  start(5);
  without_scratch();
  job_->run_each([](Endpoint& ep) {
    Team& world = ep.world();
    for (std::uint32_t i = 0; i < 20; ++i) {
      std::vector<Event> events;
      for (std::uint32_t k = 0; k + 1 < Team::kMostBarriers; ++k)
        events.push_back(k % 2 == 0 ? world.barrier_nb() : world.barrier_nb(k == 3 ? ep.rank() : k));
      ASSERT_TRUE(world.notify(i));
      for (std::uint32_t k = 0; k < events.size(); ++k)
        ASSERT_EQ(ep.wait(events[k]).code(), k == 3 ? ErrorCode::mismatch : ErrorCode::ok) << k;
      ASSERT_TRUE(world.wait());
    }
  });
}

// The engine ends the operation of a barrier whose team is gone.
TEST_F(TeamLives, DestroyedWithBarriersInFlightCloseThem) {
  start(2);
  Endpoint& ep = job_->endpoint(0);
  std::vector<Event> events;
  std::vector<std::optional<Team>> teams(2);
  job_->run_each([&](Endpoint& me) {
    if (auto made = me.world().split(0, me.rank()); made) teams[me.rank()] = std::move(*made);
  });
  ASSERT_TRUE(teams[0]);
  {
    Team& team = *teams[0];
    for (int i = 0; i < 3; ++i) events.push_back(team.barrier_nb());
    ASSERT_TRUE(team.notify());
    EXPECT_EQ(team.end().code(), ErrorCode::invalid_argument);
    teams[0].reset();
  }
  for (Event& event : events) {
    EXPECT_EQ(ep.wait_for(event, std::chrono::seconds(10)).code(), ErrorCode::closed);
    ASSERT_TRUE(event.done());
  }
  for (int i = 0; i < 10; ++i) ep.progress();
  teams[1].reset();
}

// Each barrier is announced at once: the one rank gets to the end of all while the other does nothing. Packets leave at
// the call.
TEST_F(TeamLives, HaveBarriersThatDoNotWaitForOneAnother) {
  start(2, "1024", /*native=*/"none");
  std::vector<Event> events[2];
  for (std::size_t rank = 0; rank < 2; ++rank) {
    Team& world = job_->endpoint(rank).world();
    for (std::uint32_t i = 0; i + 1 < Team::kMostBarriers; ++i)
      events[rank].push_back(world.barrier_nb(i == 4 ? static_cast<std::uint32_t>(rank) : i));
    ASSERT_TRUE(world.notify());
    EXPECT_EQ(world.barrier_nb().status().code(), ErrorCode::refused);
  }
  Endpoint& busy = job_->endpoint(1);
  for (int i = 0; i < 1000; ++i) busy.progress();
  for (std::uint32_t i = 0; i < events[1].size(); ++i) {
    ASSERT_TRUE(events[1][i].done()) << i;
    EXPECT_EQ(events[1][i].status().code(), i == 4 ? ErrorCode::mismatch : ErrorCode::ok) << i;
  }
  EXPECT_TRUE(busy.world().wait());
  for (std::uint32_t i = 0; i < events[0].size(); ++i)
    EXPECT_EQ(job_->endpoint(0).wait(events[0][i]).code(), i == 4 ? ErrorCode::mismatch : ErrorCode::ok) << i;
  EXPECT_TRUE(job_->endpoint(0).world().wait());
}

TEST_F(TeamLives, InWhichOneMemberCallsABarrierInPlaceOfAnOperationAreBroken) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    for (Rank odd = 0; odd < 3; ++odd) {
      auto team = ep.world().split(0, ep.rank());
      ASSERT_TRUE(team && *team);
      Team& all = **team;
      ASSERT_TRUE(all.barrier(odd));
      std::uint64_t word = 1;
      Event event =
          ep.rank() == odd ? all.barrier_nb() : all_reduce_nb(all, std::span(&word, 1), ReduceOp::sum);
      ASSERT_EQ(ep.wait_for(event, std::chrono::seconds(10)).code(), ErrorCode::mismatch);
      ASSERT_TRUE(event.done());
      EXPECT_EQ(all.barrier().code(), ErrorCode::mismatch);
      EXPECT_EQ(all.barrier_nb(1).status().code(), ErrorCode::mismatch);
      EXPECT_EQ(all.wait().code(), ErrorCode::invalid_argument) << "that of barrier() is over";
      EXPECT_TRUE(all.end()) << "a team that is broken can be ended";
      ASSERT_TRUE(ep.barrier());
    }
  });
}

TEST_F(TeamLives, WithALostMemberEndTheirBarriers) {
  start(3);
  Endpoint& ep = job_->endpoint(0);
  Team& world = ep.world();
  std::vector<Event> events;
  events.push_back(world.barrier_nb());
  ASSERT_TRUE(world.notify(1));
  EXPECT_FALSE(world.try_wait());
  ep.state().peer_lost(2);
  EXPECT_TRUE(world.try_wait());
  const Status lost(ErrorCode::peer_lost, 2);
  EXPECT_EQ(world.wait(), lost);
  events.push_back(world.barrier_nb());
  for (Event& event : events) {
    ASSERT_TRUE(event.done());
    EXPECT_EQ(event.status(), lost);
  }
  EXPECT_TRUE(world.notify()) << "as before the loss: wait tells";
  EXPECT_TRUE(world.try_wait());
  EXPECT_EQ(world.wait(), lost);
  EXPECT_EQ(world.barrier(3), lost);
}

// What ranks leave in flight differs, and does not hold up the end of the job.
TEST_F(TeamLives, WithABarrierLeftInFlightLetTheirJobFinish) {
  for (const int who : {0, 1, 2}) {
    start(3);
    std::uint64_t word = 1;  // until the job is over
    job_->run_each([&](Endpoint& ep) {
      ASSERT_TRUE(ep.barrier());
      if (who == 2 || ep.rank() == 0) {
        ASSERT_TRUE(ep.world().notify());
      }
      if (who == 1 && ep.rank() == 1) {
        CollOptions options;
        options.limit = std::chrono::milliseconds(5);
        EXPECT_FALSE(all_reduce(ep.world(), std::span(&word, 1), ReduceOp::sum, options));
      }
    });
    EXPECT_TRUE(job_->finish()) << who;
  }
}

// The endpoints of a process leave together, so none of them learns from another one's leaving that it waits in vain.
TEST_F(TeamLives, WithBarriersThatOneEndpointHasLeftInFlightLetTheirJobFinish) {
  for (const bool of_conduit : {false, true}) {
    if (of_conduit) {
      Config config;
      ASSERT_TRUE(config.set("segment_bytes", "4K"));
      ASSERT_TRUE(config.set("log", "off"));
      auto made = Job::in_process(3, config);  // smp has a barrier of its own
      ASSERT_TRUE(made);
      job_.emplace(std::move(*made));
    } else {
      start(3);
      without_scratch();
    }
    EXPECT_EQ(Barriers::has_native(job_->endpoint(0).world().state()), of_conduit);
    job_->run_each([](Endpoint& ep) {
      ASSERT_TRUE(ep.barrier());
      for (Rank i = 0; i < (ep.rank() == 1 ? 3u : ep.rank()); ++i)
        EXPECT_TRUE(ep.world().barrier_nb().then(ep, [](Status) {}));
    });
    EXPECT_TRUE(job_->finish()) << of_conduit;
  }
}

// The other endpoint is one barrier behind, since nobody has polled it, and so has no room for the last ones at first.
TEST_F(TeamLives, WithAllBarriersThatFitLeftInFlightLetTheirJobFinish) {
  constexpr int kLeft = 7;  // one less than fit, as finish needs one
  Config config;
  ASSERT_TRUE(config.set("segment_bytes", "4K"));
  ASSERT_TRUE(config.set("log", "off"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job);
  Endpoint& behind = job->endpoint(0);
  Endpoint& ahead = job->endpoint(1);
  EXPECT_TRUE(behind.world().barrier_nb().then(behind, [](Status) {}));
  Event first = ahead.world().barrier_nb();
  EXPECT_TRUE(ahead.wait_for(first, std::chrono::seconds(10)));
  for (int i = 0; i < kLeft; ++i) EXPECT_TRUE(ahead.world().barrier_nb().then(ahead, [](Status) {}));
  EXPECT_TRUE(job->finish());
}

// A program that holds all of its operations can still use barriers, as the end of a job does.
TEST_F(TeamLives, HaveABarrierThoughNoOperationIsFree) {
  start(2, "64");
  job_->run_each([](Endpoint& ep) {
    ASSERT_TRUE(ep.barrier());
    core::OpPool& ops = ep.state().ops;
    std::vector<core::Op*> taken;
    while (core::Op* const op = ops.acquire(core::kGroup, kNoRank, true)) taken.push_back(op);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(ep.barrier());
    EXPECT_EQ(ep.world().barrier_nb().status().code(), ErrorCode::refused);
    for (core::Op* const op : taken) ops.take_back(*op);
    EXPECT_TRUE(ep.barrier());
  });
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
}  // namespace aqueduct::coll
