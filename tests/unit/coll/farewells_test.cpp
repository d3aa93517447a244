// How ranks that are in Job::finish after a loss wait for one another.

#include <aqueduct/aqueduct.hpp>

#include "coll/barriers.hpp"
#include "core/endpoint_state.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <utility>

namespace aqueduct::coll {
namespace {

std::optional<Job> job_of(Rank ranks) {
  Config config;
  for (const auto& [name, value] : {std::pair{"conduit", "loop"}, {"near", "off"}, {"log", "off"}})
    EXPECT_TRUE(config.set(name, value));
  auto made = Job::in_process(ranks, config);
  EXPECT_TRUE(made) << made.status().text();
  return made ? std::optional<Job>(*std::move(made)) : std::nullopt;
}

class FarewellsOfThree : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(job_); }
  EndpointState& state(Rank rank) { return job_->endpoint(rank).state(); }
  Farewells& farewells(Rank rank) { return state(rank).barriers->farewells(); }
  void progress() {
    for (int round = 0; round < 3; ++round) {
      for (Rank rank : {0u, 1u}) job_->endpoint(rank).progress();
    }
  }

  std::optional<Job> job_ = job_of(3);  // is not finished: rank 2 would wait for the others
};

TEST_F(FarewellsOfThree, AreOverWhenAllWhoAreLeftHaveSaidTheirs) {
  for (Rank rank : {0u, 1u}) state(rank).peer_lost(2);
  EXPECT_FALSE(farewells(0).over());
  progress();
  EXPECT_FALSE(farewells(0).over()) << "rank 1 has said nothing yet";
  EXPECT_TRUE(farewells(1).over()) << "it has heard of rank 0, and rank 2 is lost";
  progress();
  EXPECT_TRUE(farewells(0).over());
}

TEST_F(FarewellsOfThree, TellOfTheLossWhoHasNotNoticedIt) {
  state(0).peer_lost(2);
  EXPECT_FALSE(farewells(0).over());
  EXPECT_FALSE(job_->endpoint(1).is_lost(2));
  progress();
  EXPECT_TRUE(job_->endpoint(1).is_lost(2));
}

TEST_F(FarewellsOfThree, OfARankThatStaysNoLongerMakeItLost) {
  for (Rank rank : {0u, 1u}) state(rank).peer_lost(2);
  EXPECT_FALSE(farewells(0).over());
  progress();
  EXPECT_FALSE(job_->endpoint(1).is_lost(0)) << "it stays";
  EXPECT_TRUE(farewells(0).left());
  progress();
  EXPECT_TRUE(job_->endpoint(1).is_lost(0));
  EXPECT_TRUE(farewells(1).over());
}

TEST_F(FarewellsOfThree, WaitForNobodyElseWhenAllAreLost) {
  state(0).peer_lost(2);
  state(0).peer_lost(1);
  EXPECT_TRUE(farewells(0).over());
}

// Whoever else has no message to wait for may be leaving, and must not be connected to any more.
TEST(Farewells, AfterTheFirstBarrierGoOnlyToWhomArrivalsGo) {
  auto job = job_of(8);
  ASSERT_TRUE(job);
  EndpointState& state = job->endpoint(3).state();
  state.peer_lost(6);
  EXPECT_TRUE(state.barriers->farewells().left_last_barrier());
  for (Rank rank = 0; rank < 8; ++rank) job->endpoint(rank).progress();
  for (const Rank rank : {0u, 1u, 2u, 4u, 5u, 7u}) {
    const bool is_successor = rank == 4 || rank == 5 || rank == 7;
    EXPECT_EQ(job->endpoint(rank).is_lost(3), is_successor) << rank;
    EXPECT_EQ(job->endpoint(rank).is_lost(6), is_successor) << rank;
  }
}

// A rank that has left may take nothing for ever. The others must hear of the leaving all the same: they may wait for
// nothing else.
TEST(Farewells, ReachTheOthersThoughOneHasNoRoom) {
  auto job = job_of(8);
  ASSERT_TRUE(job);
  core::Conduit& other = job->endpoint(0).state().conduit(4);
  alignas(8) constexpr std::array<std::byte, 8> kNoMessage{};
  int sent = 0;
  while (other.send(4, kNoMessage, {}, {}).kind != core::Post::Kind::retry) ASSERT_LT(++sent, 10'000);
  EndpointState& state = job->endpoint(3).state();
  state.peer_lost(6);
  Farewells& farewells = state.barriers->farewells();
  EXPECT_FALSE(farewells.left_last_barrier()) << "rank 4 has no room";
  for (const Rank rank : {5u, 7u}) {
    job->endpoint(rank).progress();
    EXPECT_TRUE(job->endpoint(rank).is_lost(3)) << rank;
  }
  for (int round = 0; round < 1000 && !job->endpoint(4).is_lost(3); ++round) {
    job->endpoint(4).progress();
    farewells.left_last_barrier();
  }
  EXPECT_TRUE(job->endpoint(4).is_lost(3));
  EXPECT_TRUE(farewells.left_last_barrier());
}

}  // namespace
}  // namespace aqueduct::coll
