// Which algorithm carries out the barriers of a team.

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/barrier_shape.hpp"
#include "coll/tune/coll_settings.hpp"
#include "coll/tune/tuned_chooser.hpp"
#include "coll/tune/tuning_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace aqueduct::coll {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::shared_ptr<const TuningTable> nothing_known() { return std::make_shared<const TuningTable>(); }
std::shared_ptr<const TuningTable> measured(const std::vector<Decision>& decisions) {
  return std::make_shared<const TuningTable>(TuningTable({}, decisions));
}

TeamTraits hosts_of_one(Rank ranks) { return {.ranks = ranks, .one_host = false, .mapped = false}; }

Shape barrier_of(Rank ranks) {
  Shape shape;
  shape.operation = Operation::barrier;
  shape.ranks = ranks;
  return shape;
}

ForcedAlgorithms forced_for(Operation operation, const Algorithm& algorithm) {
  ForcedAlgorithms forced{};
  forced[static_cast<std::size_t>(operation)] = {&algorithm, {}};
  return forced;
}

Choice choice_of(const TunedChooser& chooser, Rank ranks) {
  return chooser.choose_barrier(hosts_of_one(ranks), ScratchLayout(ScratchSizes(), ranks));
}
std::string explained(const TunedChooser& chooser, Rank ranks) {
  return chooser.explain_barrier(hosts_of_one(ranks), ScratchLayout(ScratchSizes(), ranks));
}

Decision decision_for(const Shape& shape, const Algorithm& algorithm) {
  return {key_of(shape, hosts_of_one(shape.ranks)), {&algorithm, {}, 3'000'000}, {}, 9};
}

TEST(BarrierChoice, IsThatOfAnAllReduceOfTheVotes) {
  const TableChooser rules;
  const TunedChooser chooser(rules, nothing_known());
  for (const Rank ranks : {2u, 3u, 8u, 17u, 100u}) {
    const Choice choice = choice_of(chooser, ranks);
    const Choice usual =
        rules.choose(barrier_shape(ranks), hosts_of_one(ranks), ScratchLayout(ScratchSizes(), ranks));
    ASSERT_NE(choice.algorithm, nullptr);
    EXPECT_EQ(choice.algorithm, usual.algorithm);
    EXPECT_EQ(choice.shape, usual.shape);
    EXPECT_THAT(explained(chooser, ranks),
                HasSubstr("barrier, " + std::to_string(ranks) + " members\n  all_reduce of 8 bytes"));
  }
}

TEST(BarrierChoice, ObeysItsSettingWhereTheTeamCan) {
  int obeyed = 0;
  for (const Algorithm* const algorithm : all_algorithms()) {
    if (algorithm->operation != Operation::all_reduce) continue;
    const TableChooser rules(forced_for(Operation::barrier, *algorithm));
    const TunedChooser chooser(rules, nothing_known());
    for (const Rank ranks : {2u, 3u, 8u}) {
      const ScratchLayout layout({}, ranks);
      const Choice choice = choice_of(chooser, ranks);
      const std::string text = explained(chooser, ranks);
      const char* const why = rules.why_barrier_differs(hosts_of_one(ranks), layout);
      if (why == nullptr) {
        ++obeyed;
        EXPECT_EQ(choice.algorithm, algorithm) << text;
        EXPECT_GE(choice.piece, 8u);
        EXPECT_THAT(text, HasSubstr("(a setting asks for it)"));
        continue;
      }
      EXPECT_EQ(choice.algorithm,
                TableChooser().choose(barrier_shape(ranks), hosts_of_one(ranks), layout).algorithm);
      EXPECT_THAT(text,
                  HasSubstr("(a setting asks for " + std::string(algorithm->name) + ", but " + why + ")"));
    }
  }
  EXPECT_GT(obeyed, 10);
}

TEST(BarrierChoice, DoesNotFollowTheSettingOfAllReducesNorTheReverse) {
  const TableChooser sums(forced_for(Operation::all_reduce, kAllReduceRing));
  const TunedChooser chooser(sums, nothing_known());
  EXPECT_NE(choice_of(chooser, 8).algorithm, &kAllReduceRing);
  EXPECT_THAT(explained(chooser, 8), Not(HasSubstr("a setting asks")));
  const TableChooser barriers(forced_for(Operation::barrier, kAllReduceRing));
  const Choice sum = TunedChooser(barriers, nothing_known())
                         .choose(barrier_shape(8), hosts_of_one(8), ScratchLayout(ScratchSizes(), 8));
  EXPECT_NE(sum.algorithm, &kAllReduceRing);
}

TEST(BarrierChoice, FollowsAMeasurementOfBarriersAlone) {
  const TableChooser rules;
  const Algorithm* const usual = choice_of(TunedChooser(rules, nothing_known()), 8).algorithm;
  const Algorithm& other = usual == &kAllReduceTree ? kAllReduceDirect : kAllReduceTree;
  const TunedChooser sums(rules, measured({decision_for(barrier_shape(8), other)}));
  EXPECT_EQ(choice_of(sums, 8).algorithm, usual) << "that was an all-reduce";
  const TunedChooser barriers(rules, measured({decision_for(barrier_of(8), other)}));
  EXPECT_EQ(choice_of(barriers, 8).algorithm, &other);
  EXPECT_EQ(choice_of(barriers, 8).by, ChosenBy::measurement);
  EXPECT_THAT(explained(barriers, 8),
              AllOf(HasSubstr("measured: 3.000 us, the median of 9 calls"), Not(HasSubstr("nearest")),
                    HasSubstr("\n  " + std::string(other.name))));
  EXPECT_THAT(explained(barriers, 9), HasSubstr("at the nearest measured size (8 members on 8 hosts)"));
  EXPECT_EQ(barriers.choose(barrier_shape(8), hosts_of_one(8), ScratchLayout(ScratchSizes(), 8)).by,
            ChosenBy::rules);
}

// Such a schedule moves no votes: it is a call of its own, whatever is set for the barriers of teams.
TEST(BarrierChoice, IsNotThatOfASchedule) {
  const TableChooser rules(forced_for(Operation::barrier, kAllReduceTree));
  const TunedChooser chooser(rules, measured({decision_for(barrier_of(8), kAllReduceTree)}));
  const Choice choice = chooser.choose(barrier_of(8), hosts_of_one(8), ScratchLayout(ScratchSizes(), 8));
  ASSERT_NE(choice.algorithm, nullptr);
  EXPECT_EQ(choice.algorithm->operation, Operation::barrier);
}

TEST(BarrierChoice, IsTriedOutAsItIsTold) {
  const TableChooser rules;
  TunedChooser chooser(rules, nothing_known());
  const Algorithm* const usual = choice_of(chooser, 8).algorithm;
  chooser.try_out(key_of(barrier_of(8), hosts_of_one(8)), {&kAllReduceDirect, {}, 0});
  EXPECT_EQ(choice_of(chooser, 8).algorithm, &kAllReduceDirect);
  chooser.end_trial();
  EXPECT_EQ(choice_of(chooser, 8).algorithm, usual);
}

TEST(BarrierChoice, TravelsInTablesAndFiles) {
  Decision one = decision_for(barrier_of(8), kAllReduceTree);
  one.runner_up = {&kAllReduceMultiplying, {4, 0, 0}, 4'000'000};
  const TuningTable table({}, std::vector{one});
  const auto again = TuningTable::from(table.words());
  ASSERT_TRUE(again);
  ASSERT_EQ(again->decisions().size(), 1u);
  EXPECT_EQ(again->decisions().front(), one);
  const TuningPlace place{"machine", "udp"};
  const TuningRead read = read_tuning(tuning_text(place, std::vector{one}), place);
  EXPECT_EQ(read.problem, "");
  EXPECT_EQ(read.unknown, 0u);
  ASSERT_EQ(read.decisions.size(), 1u);
  EXPECT_EQ(read.decisions.front(), one);
}

TEST(BarrierSetting, NamesTheAlgorithmsOfAllReducesButTheConduits) {
  Config config;
  EXPECT_TRUE(config.set("coll_barrier", "multiplying:radix=4"));
  const Forced barrier = forced_algorithms(config)[static_cast<std::size_t>(Operation::barrier)];
  EXPECT_EQ(barrier.algorithm, &kAllReduceMultiplying);
  EXPECT_EQ(barrier.wanted[0], 4u);
  EXPECT_FALSE(config.set("coll_barrier", "native"));
  EXPECT_FALSE(config.set("coll_barrier", "dissemination")) << "a schedule of the simulator";
  for (const SettingProblem& problem : config.problems())
    EXPECT_THAT(problem.text, AllOf(HasSubstr("AQUEDUCT_COLL_BARRIER="), HasSubstr("multiplying"),
                                    Not(HasSubstr(", native"))));
}

}  // namespace
}  // namespace aqueduct::coll
