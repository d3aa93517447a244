// Teams without memory for collective operations, places that come back wrong, and plans whose team has ended.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>
#include <aqueduct/coll_scratch.hpp>

#include "coll/engine/checked_request.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/engine/start.hpp"
#include "tests/support/loop_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

using aqueduct::detail::TeamSlot;
using testing::HasSubstr;
using testing::Not;

class TeamMemory : public testing::Test {
 protected:
  void start(Rank ranks, const support::Settings& settings = {}) {
    support::start_over_loop(job_, ranks, settings);
  }
  static Collectives& engine(Endpoint& ep) { return *ep.state().layer<Collectives>(); }

  std::optional<Job> job_;
};

constexpr const char* kNoScratch = "the team has no scratch";

/// Makes teams of two ranks until one has no memory for collective operations: the last.
void make_until_one_has_none(Endpoint& ep, std::vector<Team>& teams) {
  const std::array<Rank, 2> all{0, 1};
  while (teams.empty() ||
         teams.back().explain(Collective::barrier, 0).find(kNoScratch) == std::string::npos) {
    ASSERT_LT(teams.size(), 1000u);
    auto team = Team::create(ep, all, teams.size());
    ASSERT_TRUE(team) << team.status().text();
    teams.push_back(std::move(*team));
  }
}

TEST_F(TeamMemory, WithoutAnyCallsFailAlikeAndBreakNothing) {
  testing::internal::CaptureStderr();  // before the log is made
  start(2, {{"coll_counters", "1024"}, {"coll_scratch", "64K"}, {"log", "warn"}});
  const auto call_without = [](Endpoint& ep) {
    const std::array<Rank, 2> all{0, 1};
    std::vector<Team> teams;
    ASSERT_NO_FATAL_FAILURE(make_until_one_has_none(ep, teams));
    Team without = std::move(teams.back());
    teams.pop_back();
    for (int i = 0; i < 3; ++i) {
      std::uint64_t word = 1;
      EXPECT_EQ(all_reduce(without, std::span(&word, 1), ReduceOp::sum).code(), ErrorCode::no_memory);
      EXPECT_EQ(all_reduce_plan(without, std::span(&word, 1), ReduceOp::sum).status().code(),
                ErrorCode::no_memory);
      EXPECT_TRUE(without.barrier()) << "needs none";
      ASSERT_TRUE(all_reduce(ep.world(), std::span(&word, 1), ReduceOp::sum));
      EXPECT_EQ(word, 2u);
    }
    for (Rank tag = 0; tag < 5; ++tag) {  // further ones say nothing, and are counted
      auto team = Team::create(ep, all, 5000 + tag);
      ASSERT_TRUE(team) << team.status().text();
      EXPECT_THAT(team->explain(Collective::barrier, 0), HasSubstr(kNoScratch));
      teams.push_back(std::move(*team));
    }
    const auto rows = ep.state().statistics_rows;
    const auto row = std::ranges::find(rows, std::string_view("teams_without_scratch"), &StatisticsRow::name);
    ASSERT_NE(row, rows.end());
    EXPECT_EQ(*row->counter, 6u);
    EXPECT_TRUE(without.end());
    for (Team& team : teams) EXPECT_TRUE(team.end());
    auto again = Team::create(ep, all, 0);
    ASSERT_TRUE(again) << again.status().text();
    EXPECT_THAT(again->explain(Collective::barrier, 0), Not(HasSubstr(kNoScratch)));
    ASSERT_TRUE(ep.barrier());
  };
  if (job_) job_->run_each(call_without);
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string_view why = "has no memory for collective operations, which will fail";
  int times = 0;
  for (auto at = said.find(why); at != std::string::npos; at = said.find(why, at + 1)) ++times;
  EXPECT_GE(times, 1) << said;
  EXPECT_LE(times, 2) << "once on each rank: " << said;
}

// Beside their scratch, which is a lease. The sanitizers' allocators count nothing here.
TEST_F(TeamMemory, OfAThousandLiveTeamsIsAtMostTwoKibibytesEach) {
  constexpr std::size_t kTeams = 1000;
  for (const char* const conduit : {"loop", "smp"}) {
    constexpr Rank kRanks = 4;
    ASSERT_NO_FATAL_FAILURE(
        start(kRanks, {{"conduit", conduit}, {"near", conduit[0] == 's' ? "on" : "off"}}));
    std::array<std::vector<Team>, kRanks> teams;
    const auto make = [&](std::size_t count) {
      job_->run_each([&](Endpoint& ep) {
        for (std::size_t i = 0; i < count; ++i) {
          auto team = ep.world().split(0, 0);
          ASSERT_TRUE(team && *team);
          teams[ep.rank()].push_back(std::move(**team));
        }
        ASSERT_TRUE(ep.barrier());
      });
    };
    for (auto& mine : teams) mine.reserve(kTeams + 10);
    make(10);  // what the job's first teams make for all
    const std::size_t before = ::mallinfo2().uordblks;
    make(kTeams);
    const std::size_t after = ::mallinfo2().uordblks;
    EXPECT_LE((after - before) / kTeams / kRanks, 2048u) << conduit;
    job_->run_each([&](Endpoint& ep) {
      std::uint64_t word = 1;
      ASSERT_TRUE(all_reduce(teams[ep.rank()].back(), std::span(&word, 1), ReduceOp::sum));
      EXPECT_EQ(word, kRanks);
      ASSERT_TRUE(ep.barrier());
    });
    for (auto& mine : teams) mine.clear();
    job_.reset();
  }
}

TEST_F(TeamMemory, ThatIsShortIsSaidOnce) {
  testing::internal::CaptureStderr();
  ASSERT_NO_FATAL_FAILURE(start(2, {{"coll_counters", "8192"}, {"coll_scratch", "64K"}, {"log", "warn"}}));
  job_->run_each([](Endpoint& ep) {
    std::vector<std::uint64_t> mine(8192), sums(8192);
    std::vector<Team> teams;
    ASSERT_NO_FATAL_FAILURE(make_until_one_has_none(ep, teams));
    // The last team that has any memory has little, and does a long block all the same.
    std::fill(mine.begin(), mine.end(), ep.rank() + 1);
    ASSERT_GE(teams.size(), 2u);
    ASSERT_TRUE(all_reduce(teams[teams.size() - 2], std::span<const std::uint64_t>(mine), std::span(sums),
                           ReduceOp::sum));
    EXPECT_EQ(sums, std::vector<std::uint64_t>(8192, 3));
    for (Team& team : teams) EXPECT_TRUE(team.end());
    ASSERT_TRUE(ep.barrier());
  });
  const std::string log = testing::internal::GetCapturedStderr();
  const auto first = log.find("bytes of memory for collective operations, and later teams");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("bytes of memory for collective operations, and later teams", first + 1),
            std::string::npos)
      << log;
  EXPECT_THAT(log,
              HasSubstr("End teams that are no longer used (Team::end), or raise AQUEDUCT_COLL_SCRATCH"));
}

// The library's own memory is used up, but for counters: the program gives the bytes.
TEST_F(TeamMemory, OfTheProgramsOwnServesATeamThatHasNone) {
  ASSERT_NO_FATAL_FAILURE(start(2, {{"coll_counters", "8192"}, {"coll_scratch", "64K"}}));
  job_->run_each([](Endpoint& ep) {
    const std::array<Rank, 2> all{0, 1};
    std::vector<Team> teams;
    ASSERT_NO_FATAL_FAILURE(make_until_one_has_none(ep, teams));
    for (int round = 0; round < 2; ++round) {
      Team& without = teams.back();
      const std::uint64_t least = least_scratch(without);
      EXPECT_EQ(use_scratch(without, ep.segment().first(least - 1)).code(), ErrorCode::invalid_argument);
      EXPECT_EQ(use_scratch(without, {}).code(), ErrorCode::invalid_argument) << "the library has none";
      ASSERT_TRUE(use_scratch(without, ep.segment().first(least)));
      std::uint64_t word = 1;
      ASSERT_TRUE(all_reduce(without, std::span(&word, 1), ReduceOp::sum));
      EXPECT_EQ(word, 2u);
      ASSERT_TRUE(without.barrier());
      EXPECT_TRUE(without.end());
      teams.pop_back();
      auto again = Team::create(ep, all, 1000);
      ASSERT_TRUE(again) << again.status().text();
      teams.push_back(std::move(*again));
    }
    for (Team& team : teams) EXPECT_TRUE(team.end());
    EXPECT_EQ(engine(ep).memory().places(), 0u);
    ASSERT_TRUE(ep.barrier());
  });
}

// What a member has sent is not what has come back: it must not use another place than its own.
TEST_F(TeamMemory, IsTheOneThatThisMemberHasOffered) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  Endpoint& ep = job_->endpoint(0);
  Collectives& all = engine(ep);
  for (const bool right : {true, false}) {
    TeamState team(ep.state(), 12345, team::RankMap::of({0, 1}));
    const TeamOffer mine = all.prepare(team);
    ASSERT_NE(mine.bytes, 0u);
    std::array offers{mine, mine};
    if (!right) offers[0].offset += 64;
    ASSERT_TRUE(all.settle(team, offers));
    Shape shape;
    shape.ranks = 2;
    EXPECT_EQ(all.explain(team, shape).find(kNoScratch) == std::string::npos, right);
    all.leave(team, /*together=*/true);
    EXPECT_EQ(all.memory().places(), 0u) << "the place that was offered is given back";
  }
}

// Its CollPlan keeps the plan after a failure, and gives it back later.
TEST_F(TeamMemory, OfAPlanWhoseTeamHasEndedIsFreedOnce) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  job_->run_each([](Endpoint& ep) {
    auto team = ep.world().split(0, ep.rank());
    ASSERT_TRUE(team && *team);
    std::uint64_t word = 1;
    detail::CollCall call;
    call.operation = Collective::all_reduce;
    call.type = ElementType::u64;
    call.element = 8;
    std::span<std::uint64_t> data(&word, 1);
    call.out = detail::coll_buffer(data);
    std::string why;
    const auto request = checked_request((*team)->state(), call, engine(ep).user_operators(), why);
    ASSERT_TRUE(request) << why;
    const auto plan = engine(ep).bind((*team)->state(), *request);
    ASSERT_TRUE(plan) << plan.status().text();
    ASSERT_TRUE((*team)->end());
    EXPECT_EQ(engine(ep).end(*plan).code(), ErrorCode::closed);
    EXPECT_EQ(Collectives::start(*static_cast<Plan*>(*plan)).status().code(), ErrorCode::closed);
    EXPECT_EQ(engine(ep).end(*plan).code(), ErrorCode::closed);
    engine(ep).drop(*plan);  // the sanitizer would see a plan that is freed twice, or never
    ASSERT_TRUE(ep.barrier());
  });
}

// What a Team has sent may still be under way when the Team object is gone; its engine stays for that.
TEST_F(TeamMemory, OfATeamThatIsGoneIsNotReadByItsPlans) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  job_->run_each([](Endpoint& ep) {
    auto team = ep.world().split(0, ep.rank());
    ASSERT_TRUE(team && *team);
    std::uint64_t word = 1;
    auto plan = all_reduce_plan(**team, std::span(&word, 1), ReduceOp::sum);
    ASSERT_TRUE(plan) << plan.status().text();
    ASSERT_TRUE(plan->run());
    static_cast<TeamEngine*>((*team)->state().slot(TeamSlot::collectives))->detach();
    EXPECT_EQ(plan->start().status().code(), ErrorCode::closed);
    EXPECT_EQ(plan->run().code(), ErrorCode::closed);
    EXPECT_EQ(plan->end().code(), ErrorCode::closed);
    ASSERT_TRUE(ep.barrier());
  });
}

// One member binds a plan that the engine cannot carry out. The others wait in another call.
TEST_F(TeamMemory, APlanThatTheEngineRefusesIsToldToAll) {
  ASSERT_NO_FATAL_FAILURE(start(3, {{"coll_all_reduce", "halving"}}));
  job_->run_each([](Endpoint& ep) {
    std::uint64_t word = 1;
    const std::span<std::uint64_t> data(&word, 1);
    auto team = ep.world().split(0, ep.rank());
    ASSERT_TRUE(team && *team);
    Team& on = **team;
    // All alike: nothing has happened.
    EXPECT_EQ(all_reduce_plan(on, data, ReduceOp::sum).status().code(), ErrorCode::invalid_argument);
    ASSERT_TRUE(broadcast(on, data));
    if (ep.rank() == 1) {
      EXPECT_EQ(all_reduce_plan(on, data, ReduceOp::sum).status().code(), ErrorCode::invalid_argument);
    } else {
      EXPECT_EQ(broadcast(on, data, 1).code(), ErrorCode::mismatch);
    }
    EXPECT_EQ(broadcast(on, data).code(), ErrorCode::mismatch);
    EXPECT_TRUE(on.end());
    ASSERT_TRUE(ep.barrier());
  });
}

// So many pieces that they cannot be counted. The buffer is not touched.
TEST_F(TeamMemory, ACallOfTooManyPiecesIsRefused) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  job_->run_each([](Endpoint& ep) {
    std::uint64_t word = 1;
    const std::span<std::uint64_t> huge(&word, std::size_t{1} << 57);
    EXPECT_EQ(all_reduce(ep.world(), huge, ReduceOp::sum).code(), ErrorCode::too_large);
    ASSERT_TRUE(all_reduce(ep.world(), std::span(&word, 1), ReduceOp::sum)) << "all have refused it";
    EXPECT_EQ(word, 2u);
    ASSERT_TRUE(ep.barrier());
  });
}

TEST_F(TeamMemory, ExplainSaysWhyNoCallCanBeSo) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  Team& world = job_->endpoint(0).world();
  const auto with = [&](const CollOptions& options) {
    return world.explain(Collective::all_reduce, 64, 8, options);
  };
  EXPECT_EQ(world.explain(static_cast<Collective>(16), 64), "there is no such operation: 16\n");
  EXPECT_EQ(with({.in = static_cast<Sync>(3)}), "there is no such sync mode: 3\n");
  EXPECT_EQ(with({.out = static_cast<Sync>(255)}), "there is no such sync mode: 255\n");
  EXPECT_EQ(with({.order = static_cast<ReduceOrder>(3)}), "there is no such order of a reduction: 3\n");
  EXPECT_EQ(world.explain(Collective::all_reduce, 64, static_cast<ElementType>(19)),
            "there is no such element type: 19\n");
  EXPECT_EQ(world.explain(Collective::all_gather, UINT64_MAX),
            "blocks of 18446744073709551615 bytes for 2 members cannot be counted in 64 bits\n");
  EXPECT_EQ(world.explain(Collective::all_reduce, 63, ElementType::half),
            "a block of 63 bytes does not consist of elements of 2 bytes\n");
}

TEST_F(TeamMemory, ExplainKnowsElementsThatAreCombinedAsWiderOnes) {
  ASSERT_NO_FATAL_FAILURE(start(2));
  Team& world = job_->endpoint(0).world();
  for (const ElementType type : {ElementType::half, ElementType::bfloat16}) {
    EXPECT_EQ(world.explain(Collective::all_reduce, 64, type), world.explain(Collective::all_reduce, 128, 4));
    EXPECT_EQ(world.explain(Collective::broadcast, 64, type), world.explain(Collective::broadcast, 64, 2));
  }
  EXPECT_EQ(world.explain(Collective::all_reduce, 64, ElementType::f64),
            world.explain(Collective::all_reduce, 64, 8));
  EXPECT_EQ(world.explain(Collective::broadcast, 63, ElementType::bytes),
            world.explain(Collective::broadcast, 63, 1));
}

}  // namespace
}  // namespace aqueduct::coll
