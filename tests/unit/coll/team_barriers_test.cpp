// Barriers of teams by messages: what peers say that no correct peer says, and barriers in flight when a team or job ends.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "tests/unit/coll/team_lives.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace aqueduct::coll::lives {
namespace {

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
    ASSERT_NO_FATAL_FAILURE(start_with_barriers(3, of_conduit));
    job_->run_each([](Endpoint& ep) {
      ASSERT_TRUE(ep.barrier());
      for (Rank i = 0; i < (ep.rank() == 1 ? 3u : ep.rank()); ++i)
        EXPECT_TRUE(ep.world().barrier_nb().then(ep, [](Status) {}));
    });
    EXPECT_TRUE(job_->finish()) << of_conduit;
  }
}

// The other endpoint is one barrier behind, since nobody has polled it.
TEST_F(TeamLives, WithAllBarriersThatFitLeftInFlightLetTheirJobFinish) {
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
  for (std::size_t i = 0; i < Team::kMostBarriers; ++i)
    EXPECT_TRUE(ahead.world().barrier_nb().then(ahead, [](Status) {}));
  EXPECT_TRUE(job->finish());
}

// Of barriers that go one after the other the second one is announced when the first one has ended here.
TEST_F(TeamLives, WithAsManyBarriersLeftInFlightByAllEndThemWell) {
  for (const bool of_conduit : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(start_with_barriers(3, of_conduit));
    std::atomic<std::size_t> ended_well{0};
    job_->run_each([&](Endpoint& ep) {
      for (std::size_t i = 0; i < Team::kMostBarriers; ++i)
        EXPECT_TRUE(ep.world().barrier_nb().then(ep, [&](Status how) { ended_well += how.ok() ? 1 : 0; }));
    });
    EXPECT_TRUE(job_->finish());
    EXPECT_EQ(ended_well, 3 * Team::kMostBarriers) << of_conduit;
  }
}

// Rank 2 has begun two of them, the others more: two end well, and the rest nobody reaches who has not begun it.
TEST_F(TeamLives, WithUnequalBarriersLeftInFlightEndThoseThatNotAllHaveBegunWithMismatch) {
  for (const bool of_conduit : {false, true}) {
    ASSERT_NO_FATAL_FAILURE(start_with_barriers(3, of_conduit));
    constexpr std::array<std::size_t, 3> kLeft{5, Team::kMostBarriers, 2};
    std::array<std::vector<ErrorCode>, 3> ended;  // [rank]
    job_->run_each([&](Endpoint& ep) {
      for (std::size_t i = 0; i < kLeft[ep.rank()]; ++i)
        EXPECT_TRUE(ep.world().barrier_nb().then(
            ep, [&, me = ep.rank()](Status how) { ended[me].push_back(how.code()); }));
    });
    EXPECT_TRUE(job_->finish());
    for (Rank rank = 0; rank < 3; ++rank) {
      std::vector<ErrorCode> expected(kLeft[rank], ErrorCode::mismatch);
      expected[0] = expected[1] = ErrorCode::ok;
      EXPECT_EQ(ended[rank], expected) << "of rank " << rank << ", by the conduit: " << of_conduit;
    }
  }
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

}  // namespace
}  // namespace aqueduct::coll::lives
