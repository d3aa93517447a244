// Calls that are like an earlier one take the run that this one has left behind (coll/engine/start.hpp). Here they meet what
// forbids it: other calls of the shape, changed epochs and roots, failures, and the end of the team.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/engine/collectives.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

constexpr Rank kAllThree = 3;
constexpr int kWarmUp = 40;
constexpr CollOptions kQuickModes{.in = Sync::none, .out = Sync::mine};

/// The members' teams, all driven by this thread.
class QuickStart : public testing::Test {
 protected:
  using Words = std::vector<std::uint64_t>;

  void start(std::initializer_list<std::pair<const char*, const char*>> settings = {}) {
    Config config = Config::from_variables({});
    for (const auto& [name, value] : {std::pair{"conduit", "loop"},
                                      {"near", "off"},
                                      {"loop_native", "rma"},
                                      {"segment_bytes", "4K"},
                                      {"log", "off"}})
      ASSERT_TRUE(config.set(name, value)) << name;
    for (const auto& [name, value] : settings) ASSERT_TRUE(config.set(name, value)) << name;
    auto made = Job::in_process(kAllThree, config);
    ASSERT_TRUE(made) << made.status().text();
    job_.emplace(*std::move(made));
    make_teams();
  }
  void make_teams() {
    job_->run_each([this](Endpoint& ep) {
      auto team = ep.world().split(0, ep.rank());
      ASSERT_TRUE(team && *team);
      teams_[ep.rank()].emplace(std::move(**team));
    });
  }
  void end_teams() {
    job_->run_each([this](Endpoint& ep) {
      EXPECT_TRUE(teams_[ep.rank()]->end());
      teams_[ep.rank()].reset();
    });
  }
  Endpoint& endpoint(Rank rank) { return job_->endpoint(rank); }
  Team& team(Rank rank) { return *teams_[rank]; }
  Collectives& engine(Rank rank) { return *endpoint(rank).state().layer<Collectives>(); }

  void progress(int rounds = 50) {
    for (int i = 0; i < rounds; ++i) {
      for (Rank rank = 0; rank < kAllThree; ++rank) endpoint(rank).progress();
    }
  }
  /// How a call of all members ends. One without an end fails the test.
  std::array<ErrorCode, kAllThree> codes(const std::function<Event(Rank)>& begin) {
    std::array<Event, kAllThree> events;
    for (Rank rank = 0; rank < kAllThree; ++rank) events[rank] = begin(rank);
    std::array<ErrorCode, kAllThree> out{};
    for (int i = 0; i < 2000 && !(events[0].done() && events[1].done() && events[2].done()); ++i) progress(1);
    for (Rank rank = 0; rank < kAllThree; ++rank) {
      EXPECT_TRUE(events[rank].done()) << "member " << rank;
      out[rank] = events[rank].done() ? events[rank].status().code() : ErrorCode::internal;
    }
    return out;
  }
  void call(const std::function<Event(Rank)>& begin) {
    ASSERT_EQ(codes(begin), (std::array{ErrorCode::ok, ErrorCode::ok, ErrorCode::ok}));
  }
  /// An all-reduce of `count` words, each member's own number; its result is checked.
  Event sum(Rank rank, std::size_t count) {
    data_[rank].assign(count, rank + 1);
    return all_reduce_nb(team(rank), std::span(data_[rank]), ReduceOp::sum, kQuickModes);
  }
  void sum_of_all(std::size_t count) {
    ASSERT_NO_FATAL_FAILURE(call([&](Rank rank) { return sum(rank, count); }));
    for (const Words& data : data_) ASSERT_EQ(data, Words(count, 6));
  }
  /// All records that the engines have: if one is lost with each call, there will be more and more.
  auto records() {
    progress();  // control messages may be under way
    std::vector<std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::uint32_t>> out;
    for (Rank rank = 0; rank < kAllThree; ++rank) {
      Collectives& all = engine(rank);
      out.emplace_back(all.runs().capacity(), all.operations().capacity(), all.known_calls().capacity(),
                       all.methods().capacity(), endpoint(rank).state().ops.in_flight());
    }
    return out;
  }
  std::uint64_t row(Rank rank, const char* name) {
    for (const StatisticsRow& one : endpoint(rank).statistics_rows()) {
      if (one.name == name) return *one.counter;
    }
    ADD_FAILURE() << "there is no row " << name;
    return 0;
  }

  std::optional<Job> job_;
  std::array<std::optional<Team>, kAllThree> teams_;
  std::array<Words, kAllThree> data_;
};

TEST_F(QuickStart, ServesAPlanAndCallsOfItsShapeInTurns) {
  start();
  std::array<Words, kAllThree> planned;
  std::array<std::optional<CollPlan>, kAllThree> plans;
  for (Rank rank = 0; rank < kAllThree; ++rank) {
    planned[rank].resize(5);
    auto plan = all_reduce_plan(team(rank), std::span(planned[rank]), ReduceOp::sum, kQuickModes);
    ASSERT_TRUE(plan) << plan.status().text();
    plans[rank].emplace(std::move(*plan));
  }
  const auto turn = [&](int number) {
    for (Rank rank = 0; rank < kAllThree; ++rank) planned[rank].assign(5, rank + 1);
    // Both are in flight at once, and which is first changes. One member may even start its plan where others call.
    std::array<std::array<Event, 2>, kAllThree> events;
    for (Rank rank = 0; rank < kAllThree; ++rank) {
      const bool plan_first = (number + (number % 3 == 0 ? static_cast<int>(rank) : 0)) % 2 == 0;
      if (plan_first) events[rank][0] = plans[rank]->start();
      events[rank][1] = sum(rank, 5);
      if (!plan_first) events[rank][0] = plans[rank]->start();
    }
    progress(20);
    for (Rank rank = 0; rank < kAllThree; ++rank) {
      for (Event& event : events[rank]) ASSERT_TRUE(event.done() && event.status()) << "turn " << number;
      ASSERT_EQ(planned[rank], Words(5, 6)) << "turn " << number;
      ASSERT_EQ(data_[rank], Words(5, 6)) << "turn " << number;
    }
  };
  for (int i = 0; i < kWarmUp; ++i) ASSERT_NO_FATAL_FAILURE(turn(i));
  const auto before = records();
  for (int i = 0; i < 300; ++i) ASSERT_NO_FATAL_FAILURE(turn(i));
  EXPECT_EQ(records(), before);
  for (auto& plan : plans) EXPECT_TRUE(plan->end());
  ASSERT_NO_FATAL_FAILURE(sum_of_all(5));
  end_teams();
}

// The steps that a run names are those of one root: with another root they are written anew.
TEST_F(QuickStart, FollowsTheRoot) {
  start();
  const auto turn = [&](int number) {
    const auto root = static_cast<Rank>(number % 5 < 2 ? 0 : number % 3);
    for (Rank rank = 0; rank < kAllThree; ++rank) data_[rank].assign(4, rank == root ? number : 0);
    ASSERT_NO_FATAL_FAILURE(
        call([&](Rank rank) { return broadcast_nb(team(rank), std::span(data_[rank]), root, kQuickModes); }));
    for (const Words& data : data_) ASSERT_EQ(data, Words(4, static_cast<std::uint64_t>(number)));
  };
  for (int i = 0; i < kWarmUp; ++i) ASSERT_NO_FATAL_FAILURE(turn(i));
  const auto before = records();
  for (int i = 0; i < 300; ++i) ASSERT_NO_FATAL_FAILURE(turn(i));
  EXPECT_EQ(records(), before);
  end_teams();
}

// A portion that is opened again must be of the present epoch. With little scratch there is a new one every few calls; a
// long call takes most of a bank, so that each begins one; and one that is longer than a bank goes in pieces.
TEST_F(QuickStart, GoesThroughEpochsAndBanksThatAreTooSmall) {
  start({{"coll_team_scratch", "4K"}});
  for (const std::size_t count : {std::size_t{1}, std::size_t{30}, std::size_t{110}, std::size_t{400}}) {
    SCOPED_TRACE(count);
    for (int i = 0; i < kWarmUp; ++i) ASSERT_NO_FATAL_FAILURE(sum_of_all(count));
    const auto before = records();
    const std::uint64_t control = row(0, "collective_control");
    for (int i = 0; i < 300; ++i) ASSERT_NO_FATAL_FAILURE(sum_of_all(i % 4 == 0 ? 1 : count));
    EXPECT_EQ(records(), before);
    EXPECT_GT(row(0, "collective_control"), control) << "no epoch has ended";
  }
  end_teams();
}

TEST_F(QuickStart, OfAnotherCallThanTheOthersIsAMismatchForAll) {
  start();
  for (int i = 0; i < kWarmUp; ++i) {
    ASSERT_NO_FATAL_FAILURE(sum_of_all(5));
    ASSERT_NO_FATAL_FAILURE(sum_of_all(6));
  }
  const auto before = records();
  // All members have runs for both.
  EXPECT_EQ(codes([&](Rank rank) { return sum(rank, rank == 1 ? 6 : 5); }),
            (std::array{ErrorCode::mismatch, ErrorCode::mismatch, ErrorCode::mismatch}));
  for (const std::size_t count : {5u, 6u, 7u}) {
    EXPECT_EQ(codes([&](Rank rank) { return sum(rank, count); }),
              (std::array{ErrorCode::mismatch, ErrorCode::mismatch, ErrorCode::mismatch}));
  }
  EXPECT_EQ(records(), before);
  end_teams();
  make_teams();
  ASSERT_NO_FATAL_FAILURE(sum_of_all(5));
  EXPECT_EQ(records(), before);
  end_teams();
}

TEST_F(QuickStart, ComparesItsCallWithWhatIsKnownOfOthers) {
  start();
  for (int i = 0; i < kWarmUp; ++i) ASSERT_NO_FATAL_FAILURE(sum_of_all(5));
  data_[2].assign(5, 0);
  EXPECT_EQ(broadcast_nb(team(2), std::span(data_[2]), /*root=*/3).status().code(),
            ErrorCode::invalid_argument);
  progress();  // the others know of it before they call
  for (Rank rank = 0; rank < 2; ++rank) {
    Event event = sum(rank, 5);
    ASSERT_TRUE(event.done()) << "member " << rank;
    EXPECT_EQ(event.status().code(), ErrorCode::mismatch) << "member " << rank;
  }
  end_teams();
}

TEST_F(QuickStart, EndsWithTheLossOfAMember) {
  start();
  std::array<std::optional<CollPlan>, kAllThree> plans;
  std::array<Words, kAllThree> planned;
  for (Rank rank = 0; rank < kAllThree; ++rank) {
    planned[rank].resize(5);
    auto plan = all_reduce_plan(team(rank), std::span(planned[rank]), ReduceOp::sum, kQuickModes);
    ASSERT_TRUE(plan) << plan.status().text();
    plans[rank].emplace(std::move(*plan));
  }
  for (int i = 0; i < kWarmUp; ++i) {
    ASSERT_NO_FATAL_FAILURE(sum_of_all(5));
    ASSERT_NO_FATAL_FAILURE(call([&](Rank rank) { return plans[rank]->start(); }));
  }
  const auto before = records();
  std::array<std::array<Event, 2>, 2> events;
  for (Rank rank = 0; rank < 2; ++rank) events[rank] = {sum(rank, 5), plans[rank]->start()};
  progress();
  for (Rank rank = 0; rank < 2; ++rank) {
    EXPECT_FALSE(events[rank][0].done() || events[rank][1].done()) << "member " << rank;
    endpoint(rank).state().peer_lost(2);
  }
  progress();
  for (Rank rank = 0; rank < 2; ++rank) {
    for (Event& event : events[rank]) {
      ASSERT_TRUE(event.done()) << "member " << rank;
      EXPECT_EQ(event.status().code(), ErrorCode::peer_lost) << "member " << rank;
    }
    EXPECT_EQ(sum(rank, 5).status().code(), ErrorCode::peer_lost);
    EXPECT_EQ(plans[rank]->start().status().code(), ErrorCode::peer_lost);
    EXPECT_TRUE(plans[rank]->end());
    events[rank] = {};
  }
  EXPECT_EQ(records(), before);
}

// A team's runs wait in its known calls, also in those that plans have left behind; all go back to the pools with it.
TEST_F(QuickStart, LeavesNothingBehindAtTheTeamsEnd) {
  start();
  constexpr std::size_t kAtOnce = 9;
  const auto cycle = [&](int number) {
    std::array<std::optional<CollPlan>, kAllThree> plans;
    std::array<Words, kAllThree> planned;
    for (Rank rank = 0; rank < kAllThree; ++rank) {
      planned[rank].assign(2, rank);
      auto plan = all_reduce_plan(team(rank), std::span(planned[rank]), ReduceOp::max, kQuickModes);
      ASSERT_TRUE(plan) << plan.status().text();
      plans[rank].emplace(std::move(*plan));
    }
    for (const std::size_t count : {1u, 8u, 21u}) {
      std::array<std::array<Words, kAtOnce>, kAllThree> many;
      std::array<std::array<Event, kAtOnce>, kAllThree> events;
      for (Rank rank = 0; rank < kAllThree; ++rank) {
        for (std::size_t i = 0; i < kAtOnce; ++i) {
          many[rank][i].assign(count, rank);
          events[rank][i] = all_reduce_nb(team(rank), std::span(many[rank][i]), ReduceOp::max, kQuickModes);
        }
      }
      progress();
      for (auto& of_rank : events) {
        for (Event& event : of_rank) ASSERT_TRUE(event.done() && event.status());
      }
      ASSERT_NO_FATAL_FAILURE(call([&](Rank rank) { return plans[rank]->start(); }));
    }
    if (number % 2 == 0) {
      for (auto& plan : plans) EXPECT_TRUE(plan->end());
    }
    end_teams();
    for (auto& plan : plans) {
      if (number % 2 != 0) {
        EXPECT_EQ(plan->start().status().code(), ErrorCode::closed);
      }
    }
    plans = {};  // after the team, where they have not been ended
    make_teams();
  };
  const std::size_t places = engine(0).memory().places();
  for (int i = 0; i < 4; ++i) ASSERT_NO_FATAL_FAILURE(cycle(i));
  const auto before = records();
  for (int i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(cycle(i));
  EXPECT_EQ(records(), before);
  EXPECT_EQ(engine(0).memory().places(), places);
  end_teams();
}

}  // namespace
}  // namespace aqueduct::coll
