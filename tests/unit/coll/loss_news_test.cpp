// Ranks that live lose each other: those that do not notice must not wait for them for ever.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/barriers.hpp"
#include "core/endpoint_state.hpp"
#include "core/entry.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <utility>

namespace aqueduct::coll {
namespace {

class LossNewsTest : public testing::Test {
 protected:
  void start(Rank ranks) {
    Config config;
    for (const auto& [name, value] : {std::pair{"conduit", "loop"}, {"near", "off"}, {"log", "off"}})
      ASSERT_TRUE(config.set(name, value));
    auto made = Job::in_process(ranks, config);
    ASSERT_TRUE(made) << made.status().text();
    job_.emplace(*std::move(made));
  }
  EndpointState& state(Rank rank) { return job_->endpoint(rank).state(); }
  static Status sum(Endpoint& ep) {
    std::uint64_t word = 1;
    CollOptions options;
    options.limit = std::chrono::seconds(30);
    return all_reduce(ep.world(), std::span(&word, 1), ReduceOp::sum, options);
  }

  std::optional<Job> job_;  // is not finished: ranks are lost to each other
};

TEST_F(LossNewsTest, EndWhatWaitsForTwoThatHaveLostEachOther) {
  start(3);
  state(0).inbox->lost(1);
  state(1).inbox->lost(0);
  std::array<Rank, 3> sizes{};
  job_->run_each([&sizes](Endpoint& ep) {
    EXPECT_EQ(sum(ep).code(), ErrorCode::peer_lost) << ep.rank();
    auto left = ep.world().without_lost();
    ASSERT_TRUE(left) << left.status().text();
    EXPECT_TRUE(left->barrier());
    sizes[ep.rank()] = left->size();
  });
  // One of the two goes on with the third, and the other one alone. Which one, chance decides.
  EXPECT_EQ(sizes[2], 2u);
  EXPECT_EQ(sizes[0] + sizes[1], 3u);
}

// Of the others some hear of the one first, and some of the other one.
TEST_F(LossNewsTest, EndInTeamsThatWorkAlsoIfTheOthersHearDifferentThings) {
  start(6);
  for (Rank rank : {0u, 2u, 3u}) state(rank).inbox->lost(1);
  for (Rank rank : {1u, 4u, 5u}) state(rank).inbox->lost(0);
  job_->run_each([](Endpoint& ep) {
    EXPECT_EQ(sum(ep).code(), ErrorCode::peer_lost) << ep.rank();
    for (;;) {
      auto left = ep.world().without_lost();
      ASSERT_TRUE(left) << left.status().text();
      const Status met = left->barrier();
      if (met) break;
      ASSERT_EQ(met.code(), ErrorCode::peer_lost);  // a further loss
    }
  });
}

TEST_F(LossNewsTest, AreNotPassedOnIfTheLauncherConfirmsThem) {
  start(3);
  state(0).inbox->lost(1);
  state(0).barriers->loss_news().confirm(1);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(3500);
  while (std::chrono::steady_clock::now() < until) {
    for (Rank rank : {0u, 2u})
      EXPECT_EQ(job_->endpoint(rank).progress_for(std::chrono::milliseconds(20)).code(),
                ErrorCode::timed_out);
  }
  EXPECT_FALSE(job_->endpoint(2).is_lost(1));
}

TEST_F(LossNewsTest, OfOneThatLivesTellItToGoOnAlone) {
  start(3);
  state(0).inbox->lost(1);
  job_->run_each([](Endpoint& ep) {
    EXPECT_EQ(sum(ep).code(), ErrorCode::peer_lost) << ep.rank();
    auto left = ep.world().without_lost();
    ASSERT_TRUE(left) << left.status().text();
    EXPECT_EQ(left->size(), ep.rank() == 1 ? 1u : 2u);
    EXPECT_TRUE(left->barrier());
  });
}

// Nobody is left whom it could tell, but the launcher.
TEST_F(LossNewsTest, OfAllOthersAreForTheLauncher) {
  start(3);
  state(0).inbox->lost(1);
  EXPECT_TRUE(state(0).barriers->loss_news().untold());
  state(0).inbox->lost(2);
  LossNews& news = state(0).barriers->loss_news();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  bool asks = false;
  while (!asks && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const core::Entry entry(state(0));  // the job's own look for losses would take it
    news.pass_on();
    asks = news.take_cut_off();
  }
  EXPECT_TRUE(asks) << "that the launcher tells the others";
  EXPECT_FALSE(news.take_cut_off()) << "once";
  EXPECT_FALSE(news.untold());
  EXPECT_FALSE(job_->endpoint(2).is_lost(1));
}

}  // namespace
}  // namespace aqueduct::coll
