// Algorithms chosen by measurements and by a model of the network.

#include "coll/algorithms/algorithms.hpp"
#include "coll/model/replay.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/scratch/banks.hpp"
#include "coll/tune/predict.hpp"
#include "coll/tune/tuned_chooser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace aqueduct::coll {
namespace {

using testing::HasSubstr;

constexpr std::array kOperations{Operation::broadcast,  Operation::scatter,        Operation::gather,
                                 Operation::all_gather, Operation::all_to_all,     Operation::reduce,
                                 Operation::all_reduce, Operation::reduce_scatter, Operation::scan,
                                 Operation::exscan};

/// Nanoseconds, but femtoseconds for a byte.
NetworkModel measured_network(std::int64_t latency, std::int64_t overhead, std::int64_t gap,
                              std::uint64_t per_byte) {
  NetworkModel model;
  model.origin = NetworkModel::Origin::profile;
  const auto time = [](std::int64_t ns) { return aqueduct::Picoseconds(ns * 1000); };
  model.by_size[0] = {0, time(latency), time(overhead), time(gap), per_byte};
  model.reduce_femtoseconds_per_byte = 200'000;
  return model;
}

std::shared_ptr<const TuningTable> table_of(const NetworkModel& network,
                                            std::vector<Decision> decisions = {}) {
  return std::make_shared<const TuningTable>(TuningTable({network, network}, decisions));
}

Shape shape_to_choose(Operation operation, Rank ranks, std::uint64_t bytes) {
  Shape shape;
  shape.operation = operation;
  shape.ranks = ranks;
  shape.element = 8;
  shape.bytes = shape.pitch = bytes;
  return shape;
}

TeamTraits over_network(Rank ranks) { return {.ranks = ranks, .one_host = false, .mapped = false}; }

ScratchLayout layout_for(Rank ranks) { return {ScratchSizes(), ranks}; }

class TunedChoice : public testing::Test {
 protected:
  Choice choose(const TunedChooser& chooser, const Shape& shape) const {
    return chooser.choose(shape, over_network(shape.ranks), layout_for(shape.ranks));
  }
  std::string explain(const TunedChooser& chooser, const Shape& shape) const {
    return chooser.explain(shape, over_network(shape.ranks), layout_for(shape.ranks));
  }

  TableChooser rules_;
  const NetworkModel usual_ = measured_network(2000, 400, 100, 80'000);
};

TEST_F(TunedChoice, IsThatOfTheRulesIfNothingIsKnown) {
  const TunedChooser chooser(rules_, std::make_shared<const TuningTable>());
  NetworkModel guessed = usual_;
  guessed.origin = NetworkModel::Origin::defaults;
  const TunedChooser by_defaults(rules_, table_of(guessed));
  for (const Operation operation : kOperations) {
    const Shape shape = shape_to_choose(operation, 17, 4096);
    const Choice rules = rules_.choose(shape, over_network(17), layout_for(17));
    EXPECT_EQ(choose(chooser, shape).algorithm, rules.algorithm);
    EXPECT_EQ(choose(by_defaults, shape).algorithm, rules.algorithm);
  }
  EXPECT_THAT(explain(chooser, shape_to_choose(Operation::broadcast, 17, 8)),
              HasSubstr("nothing was measured"));
}

// No candidate is faster on the machine of the model than the one that is chosen.
TEST_F(TunedChoice, ByAModelIsTheFastestOfAllCandidates) {
  for (const Operation operation : kOperations) {
    for (const std::uint64_t bytes : {8u, 4096u, 262'144u}) {
      const Shape shape = shape_to_choose(operation, 12, bytes);
      const auto table = table_of(usual_);
      const TunedChooser chooser(rules_, table);
      const Choice choice = choose(chooser, shape);
      ASSERT_NE(choice.algorithm, nullptr) << choice.why;
      const auto time_of = [&](const Algorithm& algorithm, const Fit& how) {
        std::uint64_t messages = 0;
        const auto machine = machine_for(*table, over_network(12), usual_message(algorithm, how));
        return replayed_time(algorithm, how, *machine, messages).value_or(~std::uint64_t{0});
      };
      Fit chosen;
      chosen.shape = choice.shape;
      chosen.piece = choice.piece;
      const std::uint64_t best = time_of(*choice.algorithm, chosen);
      const TuningKey key = key_of(shape, over_network(shape.ranks));
      const auto all = candidates_of(key, over_network(12), layout_for(12), false);
      ASSERT_GT(all.size(), 1u);
      for (const Timed& one : all) {
        const Fit how = fit_or_cut(*one.algorithm, one.wanted, shape, over_network(12), layout_for(12));
        EXPECT_GE(time_of(*one.algorithm, how), best) << one.algorithm->name;
      }
    }
  }
}

TEST_F(TunedChoice, ChangesWithTheNetwork) {
  // A cheap message of an expensive byte, and the reverse: a flat tree is as good as any, or the worst.
  const Shape shape = shape_to_choose(Operation::broadcast, 16, 8);
  const TunedChooser cheap(rules_, table_of(measured_network(10'000, 1, 1, 80'000)));
  const TunedChooser dear(rules_, table_of(measured_network(1, 10'000, 1, 80'000)));
  const Choice flat = choose(cheap, shape);
  const Choice deep = choose(dear, shape);
  EXPECT_LT(Schedule::cost(*flat.algorithm, flat.shape).depth,
            Schedule::cost(*deep.algorithm, deep.shape).depth);
}

TEST_F(TunedChoice, IsEqualOnAllMembersWhateverTheyHaveChosenBefore) {
  const auto table = table_of(usual_);
  const auto words = table->words();
  const TunedChooser one(rules_, table);
  const TunedChooser other(rules_, std::make_shared<const TuningTable>(*TuningTable::from(words)));
  std::vector<Shape> shapes;
  for (const Operation operation : kOperations) {
    for (std::uint64_t bytes = 8; bytes <= 1 << 16; bytes = bytes * 3 / 8 * 8)
      shapes.push_back(shape_to_choose(operation, 9, bytes));
  }
  std::vector<Choice> first;
  for (const Shape& shape : shapes) first.push_back(choose(one, shape));
  for (std::size_t i = shapes.size(); i-- > 0;) {
    Shape rooted = shapes[i];
    if (has_root(rooted.operation)) rooted.root = 3;
    const Choice again = choose(other, rooted);
    EXPECT_EQ(again.algorithm, first[i].algorithm);
    EXPECT_EQ(again.shape.parameters, first[i].shape.parameters);
    EXPECT_EQ(again.piece, first[i].piece);
  }
}

// Whatever a table says, what is chosen runs: decisions of other algorithms, members, sizes and too little scratch.
TEST_F(TunedChoice, NeverGivesWhatCannotRun) {
  for (const Operation operation : kOperations) {
    for (const Algorithm* const algorithm : all_algorithms()) {
      if (algorithm->operation != operation) continue;
      Decision one;
      one.key = key_of(shape_to_choose(operation, 8, 1024), TeamKind::network);
      one.best = {algorithm, {}, 1};
      const TunedChooser chooser(rules_, table_of(usual_, {one}));
      for (const Rank ranks : {5u, 8u, 13u, 16u}) {
        for (const std::uint64_t bytes : {512u, 1024u, 1096u, 4096u}) {
          for (const ScratchSizes& sizes : {ScratchSizes(), least_scratch(ranks)}) {
            const ScratchLayout layout(sizes, ranks);
            const Shape shape = shape_to_choose(operation, ranks, bytes);
            const Choice choice = chooser.choose(shape, over_network(ranks), layout);
            ASSERT_NE(choice.algorithm, nullptr) << choice.why;
            const Shape piece = piece_of(choice.shape, std::min(choice.piece, bytes));
            EXPECT_EQ(Schedule::refusal(*choice.algorithm, piece), nullptr);
            EXPECT_EQ(layout.refusal(portion_of(*choice.algorithm, piece)), nullptr);
          }
        }
      }
    }
  }
}

TEST_F(TunedChoice, FollowsAMeasurementAndThenTheRunnerUp) {
  Decision one;
  one.key = key_of(shape_to_choose(Operation::all_reduce, 12, 1024), TeamKind::network);
  one.best = {&kAllReduceHalving, {}, 7'000'000};  // for powers of two only
  one.runner_up = {&kAllReduceRing, {2, 0, 0}, 8'000'000};
  one.samples = 40;
  one.key.ranks = 16;
  ChoiceCounts counts;
  const TunedChooser chooser(rules_, table_of(usual_, {one}), &counts);
  const Choice exact = choose(chooser, shape_to_choose(Operation::all_reduce, 16, 1024));
  EXPECT_EQ(exact.algorithm, &kAllReduceHalving);
  EXPECT_EQ(counts.by_measurement, 1u);
  const std::string text = explain(chooser, shape_to_choose(Operation::all_reduce, 16, 1024));
  EXPECT_THAT(text, HasSubstr("measured: 7.000 us, the median of 40 calls"));
  EXPECT_THAT(text, HasSubstr("runner-up ring:segments=2, measured: 8.000 us"));
  const Choice near = choose(chooser, shape_to_choose(Operation::all_reduce, 12, 1024));
  EXPECT_EQ(near.algorithm, &kAllReduceRing);
  EXPECT_EQ(near.shape.parameters[0], 2u);
  EXPECT_THAT(explain(chooser, shape_to_choose(Operation::all_reduce, 12, 1024)),
              AllOf(HasSubstr("at the nearest measured size (1024 bytes, 16 members)"),
                    HasSubstr("halving would come first (measured: 7.000 us), but cannot do it")));
}

TEST_F(TunedChoice, SaysOnHowManyHostsItWasMeasured) {
  const Shape shape = shape_to_choose(Operation::all_reduce, 16, 1024);
  Decision one;
  one.best = {&kAllReduceRing, {2, 0, 0}, 8'000'000};
  one.samples = 40;
  one.key = key_of(shape, TeamKind::network, 4);
  const TunedChooser chooser(rules_, table_of(usual_, {one}));
  // These members have a host each.
  EXPECT_THAT(explain(chooser, shape),
              HasSubstr("at the nearest measured size (1024 bytes, 16 members on 4 hosts)"));
  one.key.hosts = 16;
  EXPECT_THAT(explain(TunedChooser(rules_, table_of(usual_, {one})), shape),
              AllOf(HasSubstr("measured: 8.000 us"), testing::Not(HasSubstr("nearest"))));
}

TEST_F(TunedChoice, ExplainsAModel) {
  const TunedChooser chooser(rules_, table_of(usual_));
  const std::string text = explain(chooser, shape_to_choose(Operation::all_reduce, 16, 65'536));
  EXPECT_THAT(text, HasSubstr("predicted by replay: "));
  EXPECT_THAT(text, HasSubstr("runner-up "));
  EXPECT_THAT(text, HasSubstr("not direct: "));
}

// Neither the rules nor a search try these: their operation is the same, and a setting chooses them.
TEST_F(TunedChoice, SaysWhyAlgorithmsForSettingsAloneDoNotRun) {
  const TeamTree tree(std::vector<Rank>{2, 2, kNoRank, 0});
  for (const Operation operation :
       {Operation::broadcast, Operation::scatter, Operation::gather, Operation::reduce}) {
    const Shape shape = shape_to_choose(operation, 4, 1024);
    TeamTraits team = over_network(4);
    const TunedChooser by_rules(rules_, std::make_shared<const TuningTable>());
    const TunedChooser by_model(rules_, table_of(usual_));
    Decision one;
    one.key = key_of(shape, team);
    one.best = {by_model.choose(shape, team, layout_for(4)).algorithm, {}, 5'000'000};
    const TunedChooser by_measurement(rules_, table_of(usual_, {one}));
    TunedChooser by_learning(rules_, table_of(usual_));
    by_learning.learn(one.key, one.best);
    for (const TunedChooser* const chooser :
         std::initializer_list<const TunedChooser*>{&by_rules, &by_model, &by_measurement, &by_learning}) {
      team.tree = nullptr;
      const std::string without = chooser->explain(shape, team, layout_for(4));
      EXPECT_THAT(without, HasSubstr("not team-tree: the team has no tree: "));
      team.tree = &tree;
      const std::string with = chooser->explain(shape, team, layout_for(4));
      EXPECT_THAT(with, HasSubstr("not team-tree: it could, but only a setting chooses it"));
      if (operation != Operation::reduce) {
        EXPECT_THAT(with, HasSubstr("not get: it could, but only a setting chooses it"));
      }
      EXPECT_THAT(without + with, testing::Not(HasSubstr("it is for another operation")));
    }
  }
}

// Windows of all-to-alls are to the model what `direct` is, so it would keep several of them in place of others.
TEST_F(TunedChoice, RanksNoWindowsOfAllToAlls) {
  const TuningKey key = key_of(shape_to_choose(Operation::all_to_all, 24, 4096), over_network(24));
  const auto windows_among = [](const std::vector<Timed>& some) {
    return std::ranges::count(some, &kAllToAllWindowed, &Timed::algorithm);
  };
  const std::vector<Timed> all = candidates_of(key, over_network(24), layout_for(24), true);
  EXPECT_GT(windows_among(all), 2);
  EXPECT_EQ(windows_among(candidates_of(key, over_network(24), layout_for(24), false)), 0);
  for (const Ranked& one :
       rank_by_model(all, judged_shape(key), *table_of(usual_), over_network(24), layout_for(24), {}))
    EXPECT_NE(one.timed.algorithm, &kAllToAllWindowed);
}

TEST_F(TunedChoice, ObeysASettingFirst) {
  ForcedAlgorithms forced{};
  forced[static_cast<std::size_t>(Operation::broadcast)] = {&kBroadcastChain, {}};
  const TableChooser rules(forced);
  const TunedChooser chooser(rules, table_of(usual_));
  const Shape shape = shape_to_choose(Operation::broadcast, 8, 8);
  EXPECT_EQ(choose(chooser, shape).algorithm, &kBroadcastChain);
  EXPECT_THAT(explain(chooser, shape), HasSubstr("a setting asks for it"));
}

// What was measured or modelled was left aside, and the rules chose.
TEST_F(TunedChoice, IsAsWithoutASettingThatTheTeamCannotFollow) {
  ForcedAlgorithms forced{};
  forced[static_cast<std::size_t>(Operation::barrier)] = {&kAllReduceHosts, {}};
  forced[static_cast<std::size_t>(Operation::broadcast)] = {&kBroadcastTeamTree, {}};
  const TableChooser rules(forced);
  const TeamTraits team = over_network(8);
  const ScratchLayout layout = layout_for(8);
  Decision barrier;
  Shape meeting;
  meeting.operation = Operation::barrier;
  meeting.ranks = 8;
  barrier.key = key_of(meeting, team);
  barrier.best = {&kAllReduceTree, {8, 0, 0}, 1000};
  barrier.samples = 5;
  Decision broadcast;
  const Shape shape = shape_to_choose(Operation::broadcast, 8, 1024);
  broadcast.key = key_of(shape, team);
  broadcast.best = {&kBroadcastFlat, {4, 0, 0}, 1000};
  broadcast.samples = 5;
  const TunedChooser chooser(rules, table_of(usual_, {barrier, broadcast}));
  const Choice of_barrier = chooser.choose_barrier(team, layout);
  EXPECT_EQ(of_barrier.by, ChosenBy::measurement);
  EXPECT_EQ(of_barrier.algorithm, &kAllReduceTree);
  EXPECT_EQ(of_barrier.shape.parameters[0], 8u);
  EXPECT_THAT(chooser.explain_barrier(team, layout), HasSubstr("(a setting asks for hosts, but "));
  const Choice of_broadcast = choose(chooser, shape);
  EXPECT_EQ(of_broadcast.by, ChosenBy::measurement);
  EXPECT_EQ(of_broadcast.algorithm, &kBroadcastFlat);
  EXPECT_THAT(explain(chooser, shape), HasSubstr("(a setting asks for team-tree, but the team has no tree)"));
}

TEST_F(TunedChoice, TriesOutWhatItIsTold) {
  TunedChooser chooser(rules_, table_of(usual_));
  const Shape shape = shape_to_choose(Operation::broadcast, 8, 1024);
  const Choice usual = choose(chooser, shape);
  chooser.try_out(key_of(shape, over_network(shape.ranks)), {&kBroadcastFlat, {4, 0, 0}, 0});
  EXPECT_EQ(choose(chooser, shape).algorithm, &kBroadcastFlat);
  EXPECT_EQ(choose(chooser, shape).shape.parameters[0], 4u);
  EXPECT_EQ(
      choose(chooser, shape_to_choose(Operation::broadcast, 8, 8)).algorithm,
      choose(TunedChooser(rules_, table_of(usual_)), shape_to_choose(Operation::broadcast, 8, 8)).algorithm);
  chooser.end_trial();
  EXPECT_EQ(choose(chooser, shape).algorithm, usual.algorithm);
}

TEST_F(TunedChoice, OfACrowdedTeamIsNotWhatWasMeasuredWithRoom) {
  TeamTraits team{.ranks = 8, .one_host = true, .mapped = false};
  const Shape shape = shape_to_choose(Operation::broadcast, 8, 1024);
  Decision one;
  one.key = key_of(shape, team);
  one.best = {&kBroadcastFlat, {4, 0, 0}, 1000};
  one.samples = 5;
  const TunedChooser chooser(rules_, table_of(usual_, {one}));
  EXPECT_EQ(chooser.choose(shape, team, layout_for(8)).algorithm, &kBroadcastFlat);
  team.crowded = true;
  EXPECT_NE(key_of(shape, team), one.key);
  EXPECT_EQ(chooser.choose(shape, team, layout_for(8)).algorithm,
            rules_.choose(shape, team, layout_for(8)).algorithm);
}

TEST_F(TunedChoice, KnowsNoHostsWithTooManyRanks) {
  const TunedChooser chooser(rules_, table_of(usual_));
  TeamTraits crowded{.ranks = 8, .one_host = true, .mapped = false};
  crowded.crowded = true;
  const Shape shape = shape_to_choose(Operation::all_reduce, 8, 1024);
  EXPECT_EQ(chooser.choose(shape, crowded, layout_for(8)).algorithm,
            rules_.choose(shape, crowded, layout_for(8)).algorithm);
}

TEST(MachineForATeam, HasALevelForHostsInOrder) {
  const NetworkModel host = measured_network(1, 2, 3, 4);
  const NetworkModel network = measured_network(100, 200, 300, 400);
  const TuningTable table({host, network}, {});
  TeamTraits team = over_network(8);
  team.block = 4;
  const auto machine = machine_for(table, team, 8);
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->between(0, 3, 8).latency, 1000u);
  EXPECT_EQ(machine->between(3, 4, 8).latency, 100'000u);
  team.block = 1;
  EXPECT_EQ(machine_for(table, team, 8)->between(0, 3, 8).latency, 100'000u);
  EXPECT_FALSE(machine_for(TuningTable({host, std::nullopt}, {}), team, 8));
}

// A piece more costs what the second one does.
TEST(ReplayedTime, OfPiecesGrowsWithThem) {
  const NetworkModel model = measured_network(2000, 400, 100, 80'000);
  const TuningTable table({model, model}, {});
  const auto machine = machine_for(table, over_network(8), 1024);
  const auto time = [&](std::uint64_t bytes) {
    Fit how;
    how.shape = shape_to_choose(Operation::broadcast, 8, bytes);
    how.shape.parameters = {2, 1, 0};
    how.piece = 1024;
    std::uint64_t messages = 0;
    return *replayed_time(kBroadcastKNomial, how, *machine, messages);
  };
  EXPECT_GT(time(2048), time(1024));
  EXPECT_EQ(time(4096) - time(3072), time(3072) - time(2048));
}

}  // namespace
}  // namespace aqueduct::coll
