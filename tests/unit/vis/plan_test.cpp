// The choice of plans: by the model, then by measured times.

#include "vis/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace aqueduct::vis {
namespace {

Question many_small() {
  Question q;
  q.is_get = true;
  q.bytes = 8000;
  q.runs = q.runs_there = 1000;
  q.spread = 100'000'000;
  q.packet = 8000;
  q.box = 8192;
  return q;
}

float cost(const Question& q, Plan plan) { return Planner::model(q)[static_cast<std::size_t>(plan)]; }

TEST(Model, PacksManySmallPieces) {
  const Question q = many_small();
  EXPECT_LT(cost(q, Plan::packed) * Planner::kTrust, cost(q, Plan::pieces));
  EXPECT_TRUE(std::isinf(cost(q, Plan::box))) << "they are far apart, and in no order";
  EXPECT_TRUE(std::isinf(cost(q, Plan::native))) << "the conduit takes no lists";
  EXPECT_TRUE(std::isinf(cost(q, Plan::direct))) << "not a matter of cost";
}

TEST(Model, LikesABoxAroundWhatIsNear) {
  Question q = many_small();
  q.bytes = 16;
  q.runs = q.runs_there = 2;
  q.spread = 64;
  EXPECT_LT(cost(q, Plan::box), cost(q, Plan::pieces) * 2);
  q.is_get = false;
  q.box = 0;
  EXPECT_TRUE(std::isinf(cost(q, Plan::box))) << "of a put";
}

/// Simulates `rounds` transfers whose plans take these times. Returns how often each was chosen in the last hundred.
std::map<Plan, int> play(Planner& planner, const Question& q, const std::map<Plan, std::uint64_t>& ns,
                         int rounds) {
  std::map<Plan, int> chosen;
  for (int round = 0; round < rounds; ++round) {
    const PlanChoice choice = planner.choose(q);
    if (round >= rounds - 100) ++chosen[choice.plan];
    const auto time = ns.find(choice.plan);
    if (time != ns.end()) planner.took(choice, q.bytes, time->second);
  }
  return chosen;
}

Question near_ones() {
  Question q = many_small();
  q.runs = q.runs_there = 4;
  q.bytes = 4000;
  q.spread = 6000;
  q.list = 16;
  return q;
}

TEST(Planner, FindsTheFastestWhateverTheModelSays) {
  for (const Plan fastest : {Plan::pieces, Plan::packed, Plan::box, Plan::native}) {
    Planner planner;
    std::map<Plan, std::uint64_t> ns{
        {Plan::pieces, 9000}, {Plan::packed, 9000}, {Plan::box, 9000}, {Plan::native, 9000}};
    ns[fastest] = 7000;
    EXPECT_GE(play(planner, near_ones(), ns, 200)[fastest], 98) << static_cast<int>(fastest);
  }
}

TEST(Planner, NoticesThatAnotherHasBecomeFaster) {
  Planner planner;
  play(planner, near_ones(),
       {{Plan::pieces, 5000}, {Plan::packed, 6000}, {Plan::box, 9000}, {Plan::native, 9000}}, 300);
  const auto later =
      play(planner, near_ones(),
           {{Plan::pieces, 50'000}, {Plan::packed, 6000}, {Plan::box, 9000}, {Plan::native, 9000}}, 2000);
  EXPECT_GE(later.at(Plan::packed), 95);
}

// Connections and caches warm up in the first calls, whichever plans these use.
TEST(Planner, IsNotMisledByAColdStart) {
  Planner planner;
  const Question q = near_ones();
  std::map<Plan, int> chosen;
  for (int round = 0; round < 400; ++round) {
    const PlanChoice choice = planner.choose(q);
    if (round >= 300) ++chosen[choice.plan];
    const std::uint64_t cold = round < 4 ? 100'000 : 0;
    planner.took(choice, q.bytes, cold + (choice.plan == Plan::packed ? 6000 : 9000));
  }
  EXPECT_GE(chosen[Plan::packed], 98);
}

TEST(Planner, TriesWhatIsFarSlowerOnce) {
  Planner planner;
  const auto chosen =
      play(planner, near_ones(),
           {{Plan::pieces, 5000}, {Plan::packed, 6000}, {Plan::box, 9'000'000}, {Plan::native, 9000}}, 100);
  EXPECT_EQ(chosen.at(Plan::box), 1);
  EXPECT_GE(chosen.at(Plan::packed), Planner::kTries);
}

// However slow a plan was: after a while it is tried again, and so is every other plan.
TEST(Planner, LooksAgainAtWhatWasFarSlower) {
  Planner planner;
  play(planner, near_ones(),
       {{Plan::pieces, 5000}, {Plan::packed, 90'000}, {Plan::box, 90'000}, {Plan::native, 9000}}, 300);
  const auto later =
      play(planner, near_ones(),
           {{Plan::pieces, 5000}, {Plan::packed, 90'000}, {Plan::box, 1000}, {Plan::native, 9000}}, 6000);
  EXPECT_GE(later.at(Plan::box), 95);
}

TEST(Planner, GoesByTheModelWhenNothingCouldBeMeasured) {
  Planner planner;
  const auto chosen = play(planner, many_small(), {}, 200);
  EXPECT_EQ(chosen.at(Plan::packed), 100);
}

TEST(Planner, TriesNothingThatTheModelRulesOut) {
  Planner planner;
  for (int i = 0; i < 1000; ++i) EXPECT_NE(planner.choose(many_small()).plan, Plan::pieces);
}

TEST(Planner, TakesAForcedPlanIfItCanBeHad) {
  Planner planner;
  Question q = many_small();
  q.forced = static_cast<std::uint64_t>(Plan::pieces);
  EXPECT_EQ(planner.choose(q).plan, Plan::pieces);
  q.forced = static_cast<std::uint64_t>(Plan::native);
  EXPECT_EQ(planner.choose(q).plan, Plan::packed) << "there are no lists here";
}

}  // namespace
}  // namespace aqueduct::vis
