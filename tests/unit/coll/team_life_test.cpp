// What teams leave behind, and what peers say that no correct peer says.

#include <aqueduct/aqueduct.hpp>

#include "coll/barriers.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/wire.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

class TeamLives : public testing::Test {
 protected:
  void start(Rank ranks) {
    Config config;
    ASSERT_TRUE(config.set("conduit", "loop"));
    ASSERT_TRUE(config.set("near", "off"));
    ASSERT_TRUE(config.set("segment_bytes", "4K"));
    ASSERT_TRUE(config.set("log", "off"));
    auto made = Job::in_process(ranks, config);
    ASSERT_TRUE(made);
    job_.emplace(std::move(*made));
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

  /// Delivers to rank 0, as if rank 1 had sent it, that rank 1 has failed in the first round of an exchange.
  void say_that_an_exchange_failed(std::uint64_t team, std::uint64_t number) {
    const ExchangePiece piece{team, number, 0, static_cast<std::uint32_t>(ErrorCode::no_memory), 1, 0};
    const am::PacketHeader header{
        am::PacketKind::request, AmCategory::medium_request, kExchange, 0, sizeof piece, 0, 0};
    std::vector<std::byte> packet(sizeof header + sizeof piece);
    std::memcpy(packet.data(), &header, sizeof header);
    std::memcpy(packet.data() + sizeof header, &piece, sizeof piece);
    job_->endpoint(0).state().messages->packet(1, packet);
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
      EXPECT_EQ(memory.places(), ep.rank() == 0 ? 2u : 1u) << "who has no colour offers nothing";
      if (*half) {
        EXPECT_TRUE((*half)->end());
      }
      EXPECT_EQ(memory.places(), 1u);
    }
    EXPECT_EQ(memory.places(), 1u) << "the peer may still write there";
    const std::array<Rank, 2> other{1, 0};
    EXPECT_EQ(Team::create(ep, ep.rank() == 0 ? all : other, 2).status().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(memory.places(), 1u) << "the offer for a team that nobody makes is withdrawn";
    ASSERT_TRUE(ep.barrier());
  });
}

// A failure in the middle of the last exchange is known to rank 0 alone: rank 1 has the team, and may write to rank 0.
TEST_F(TeamLives, AFailureThatOthersMayNotKnowKeepsThePlace) {
  start(2);
  constexpr std::uint64_t kTag = 7;
  const std::array<Rank, 2> all{0, 1};
  say_that_an_exchange_failed(TeamNames::of(kTag, all), 2);
  job_->run_each([&](Endpoint& ep) {
    HiddenMemory& memory = ep.state().layer<Collectives>()->memory();
    auto team = Team::create(ep, all, kTag);
    if (ep.rank() == 0) {
      EXPECT_EQ(team.status(), Status(ErrorCode::no_memory, 1));
    } else {
      ASSERT_TRUE(team) << team.status().text();
    }
    EXPECT_EQ(memory.places(), 1u);
    ASSERT_TRUE(ep.barrier());
  });
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
  Team& world = job_->endpoint(0).world();
  ASSERT_TRUE(world.notify(3));
  EXPECT_FALSE(world.try_wait());
  say({0, 1, 0, 77, 3, 0});
  EXPECT_EQ(world.wait().code(), ErrorCode::mismatch);
}

// Packets may overtake each other: the arrival at the next phase comes first.
TEST_F(TeamLives, ArrivalsAtTwoPhasesAreKeptApart) {
  start(2);
  Team& world = job_->endpoint(0).world();
  say({0, 2, 0, 1, 20, 0});
  ASSERT_TRUE(world.notify(10));
  EXPECT_FALSE(world.try_wait()) << "the arrival at phase 1 is still missing";
  say({0, 1, 0, 1, 10, 0});
  ASSERT_TRUE(world.wait());
  ASSERT_TRUE(world.barrier(20));
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
