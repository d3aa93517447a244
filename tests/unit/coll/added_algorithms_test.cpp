// Algorithms of the program's own: what may be added, who is told of it, and that the tuner finds the fastest.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/tune.hpp>

#include "coll/algorithms/algorithms.hpp"
#include "coll/scratch/banks.hpp"
#include "coll/tune/adding.hpp"
#include "coll/tune/coll_settings.hpp"
#include "coll/tune/ranking.hpp"
#include "coll/tune/table.hpp"
#include "coll/tune/tuning_file.hpp"
#include "conduits/sim/sim_network.hpp"
#include "examples/own_broadcast/greedy_tree.hpp"
#include "runtime/builder.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tools/aqcheck/check.hpp"
#include "tools/aqcheck/grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace aqueduct::coll {
namespace {

using example::greedy_tree;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string last_problem(const Config& config) {
  return config.problems().empty() ? std::string("none") : config.problems().back().text;
}

/// Why the algorithm cannot be added, after a change.
std::string refusal_of_changed(const std::function<void(CollectiveAlgorithm&)>& change) {
  CollectiveAlgorithm changed = greedy_tree();
  change(changed);
  Config config;
  const Status status = config.add_algorithm(changed);
  EXPECT_EQ(status.code(), config.problems().empty() ? ErrorCode::ok : ErrorCode::bad_setting);
  EXPECT_EQ(config.added_algorithms() == nullptr, !status.ok());
  return last_problem(config);
}

TEST(AddedAlgorithms, AreRefusedWithTheReason) {
  EXPECT_EQ(refusal_of_changed([](auto&) {}), "none");
  const auto refusal = [](auto change) { return refusal_of_changed(change); };
  EXPECT_THAT(
      refusal([](auto& one) { one.operation = Collective::barrier; }),
      HasSubstr("the algorithm greedy-tree for barrier cannot be added: only operations from broadcast"));
  EXPECT_THAT(refusal([](auto& one) { one.name = "Greedy tree"; }), HasSubstr("1 to 40 small letters"));
  EXPECT_THAT(refusal([](auto& one) { one.name = "k-nomial"; }), HasSubstr("there is one of this name"));
  EXPECT_THAT(refusal([](auto& one) { one.name = "auto"; }), HasSubstr("there is one of this name"));
  EXPECT_THAT(refusal([](auto& one) { one.build = nullptr; }), HasSubstr("it lacks a function"));
  EXPECT_THAT(refusal([](auto& one) { one.parameters.resize(4); }), HasSubstr("it has 4 parameters"));
  EXPECT_THAT(refusal([](auto& one) { one.parameters[0].least = 0; }), HasSubstr("1 <= least <= usual"));
  EXPECT_THAT(refusal([](auto& one) { one.parameters.push_back(one.parameters[0]); }),
              HasSubstr("two parameters are called delay"));
  Config config;
  EXPECT_TRUE(config.add_algorithm(greedy_tree()));
  EXPECT_EQ(config.add_algorithm(greedy_tree()).code(), ErrorCode::bad_setting);
  EXPECT_THAT(last_problem(config), HasSubstr("there is one of this name"));
}

constexpr StepPlace kInput{StepMemory::input, 0};
constexpr StepPlace kOutput{StepMemory::output, 0};

TEST(AddedAlgorithms, AreRefusedIfTheirStepsAreWrong) {
  using Steps = void (*)(const AlgorithmCall&, Rank, StepList&) noexcept;
  const auto refusal = [](Steps build) {
    return refusal_of_changed([&](CollectiveAlgorithm& one) { one.build = build; });
  };
  EXPECT_THAT(refusal([](const AlgorithmCall& call, Rank me, StepList& steps) noexcept {
                if (me == 0) steps.put(call.ranks, kOutput, 0, call.bytes, 0);
              }),
              HasSubstr("step 0 of member 0 of 2 names a peer that is not there, or is this member"));
  EXPECT_THAT(refusal([](const AlgorithmCall& call, Rank me, StepList& steps) noexcept {
                steps.put(1 - me, kOutput, 1, call.bytes, 0);
              }),
              HasSubstr("writes beyond the end of its memory"));
  EXPECT_THAT(refusal([](const AlgorithmCall& call, Rank, StepList& steps) noexcept {
                steps.copy(kInput, kOutput, call.bytes);  // of the root alone
              }),
              HasSubstr("step 0 of member 1 of 2 reads beyond the end of its memory"));
  EXPECT_THAT(refusal([](const AlgorithmCall& call, Rank, StepList& steps) noexcept {
                steps.copy(kOutput, kInput, call.bytes);
              }),
              HasSubstr("writes to the input"));
  EXPECT_THAT(
      refusal([](const AlgorithmCall&, Rank me, StepList& steps) noexcept { steps.signal(1 - me, 1); }),
      HasSubstr("raises a counter beyond those that it needs"));
  EXPECT_THAT(refusal([](const AlgorithmCall&, Rank me, StepList& steps) noexcept {
                if (me == 0) steps.signal(1, 0);
              }),
              HasSubstr("member 1 of 2 waits for 0 on counter 0, to which 1 is added in all"));
  EXPECT_THAT(refusal([](const AlgorithmCall&, Rank, StepList& steps) noexcept { steps.wait(0, 2); }),
              HasSubstr("member 0 of 2 waits for 2 on counter 0, to which 0 is added in all"));
  EXPECT_THAT(refusal([](const AlgorithmCall&, Rank, StepList& steps) noexcept { steps.wait(0, 65536); }),
              HasSubstr("waits for a counter to reach more than 65,535"));
  EXPECT_THAT(refusal([](const AlgorithmCall& call, Rank, StepList& steps) noexcept {
                steps.reduce(kOutput, kOutput, kOutput, call.bytes);
              }),
              HasSubstr("combines in an operation that has no operator"));
}

TEST(AddedAlgorithms, RefuseCallsForWhichTheyNeedMoreThanThereIs) {
  CollectiveAlgorithm changed = greedy_tree();
  changed.needs = [](const AlgorithmCall& call) noexcept {
    AlgorithmNeeds needs = greedy_tree().needs(call);
    needs.temporary = call.bytes - 64;  // of fewer bytes a number near 2^64
    return needs;
  };
  const AddedAlgorithm added(changed);
  Shape shape;
  shape.operation = added.algorithm.operation;
  shape.ranks = 2;
  shape.parameters[0] = 1;
  shape.added.of = &added;
  const auto refusal = [&](std::uint64_t bytes) {
    shape.bytes = shape.pitch = bytes;
    return Schedule::refusal(added.algorithm, shape);
  };
  EXPECT_EQ(refusal(64), nullptr);
  EXPECT_STREQ(refusal(8), "it needs more memory than there is");
}

std::uint32_t least_asked = 64;  // of the second parameter

TEST(AddedAlgorithms, AreAskedForValuesOfAllParametersAlone) {
  CollectiveAlgorithm changed = greedy_tree();
  changed.parameters.insert(changed.parameters.begin(), {"segments", 2, 8, 2});
  changed.cost = [](const AlgorithmCall& call) noexcept {
    least_asked = std::min({least_asked, call.parameters[1], call.parameters[0]});
    return AlgorithmCost{1, call.bytes, 3};
  };
  const AddedAlgorithm added(changed);
  Shape shape;
  shape.operation = added.algorithm.operation;
  shape.ranks = 4;
  shape.bytes = shape.pitch = 1 << 20;
  const ScratchLayout ample({.banks = 2, .counters = 65535, .bytes = std::uint64_t{1} << 50}, 4);
  const Fit fit = fit_or_cut(added.algorithm, {}, shape, {.ranks = 4}, ample);
  EXPECT_GE(fit.shape.parameters[0], 2u);
  EXPECT_GE(least_asked, 1u) << "not before it has its value";
}

// A setting that comes before the algorithm is right when that is there.
TEST(AddedAlgorithms, MayBeNamedBySettingsBeforeAndAfter) {
  Config config;
  EXPECT_EQ(config.set("coll_broadcast", "greedy-tree:delay=3").code(), ErrorCode::bad_setting);
  EXPECT_EQ(config.set("coll_gather", "nothing").code(), ErrorCode::bad_setting);
  EXPECT_TRUE(config.add_algorithm(greedy_tree()));
  EXPECT_EQ(config.text("coll_broadcast"), "greedy-tree:delay=3");
  ASSERT_EQ(config.problems().size(), 1u) << "the other mistake stays";
  EXPECT_THAT(last_problem(config), StartsWith("AQUEDUCT_COLL_GATHER"));
  const Config copy = config;
  EXPECT_EQ(config.set("coll_broadcast", "greedy-tree:99").code(), ErrorCode::bad_setting);
  EXPECT_THAT(last_problem(config), HasSubstr("delay may be a whole number from 1 to 64"));
  EXPECT_EQ(config.set("coll_broadcast", "greed-tree").code(), ErrorCode::bad_setting);
  EXPECT_THAT(last_problem(config), HasSubstr("greedy-tree"));
  EXPECT_EQ(copy.text("coll_broadcast"), "greedy-tree:delay=3");
  EXPECT_EQ(Config().set("coll_broadcast", "greedy-tree").code(), ErrorCode::bad_setting)
      << "of this Config alone";
}

TEST(AddedAlgorithms, AreCheckedAsTheLibrarysAre) {
  const AddedAlgorithm added(greedy_tree());
  std::uint64_t cases = 0;
  for (Rank ranks = 1; ranks <= 9; ++ranks) {
    aqcheck::for_each_case(added.algorithm, {.ranks = ranks, .all_roots = true},
                           [&](const aqcheck::Case& made) {
                             ++cases;
                             EXPECT_EQ(aqcheck::check(made).problem, "") << aqcheck::describe(made);
                           });
  }
  EXPECT_GT(cases, 1000u);
}

// A step that is left out, and one that goes to another place, which single steps do not show.
TEST(AddedAlgorithms, AreFoundWrongByTheChecker) {
  CollectiveAlgorithm wrong = greedy_tree();
  wrong.build = [](const AlgorithmCall& call, Rank member, StepList& steps) noexcept {
    const auto build = greedy_tree().build;
    if (call.bytes != 5 || member != call.root) return build(call, member, steps);
    build(call, member, steps);
    steps.copy({StepMemory::input, 0}, {StepMemory::output, 1}, call.bytes - 1);
  };
  const AddedAlgorithm added(wrong);
  std::size_t found = 0;
  aqcheck::for_each_case(added.algorithm, {.ranks = 4}, [&](const aqcheck::Case& made) {
    found += aqcheck::check(made).problem.empty() ? 0 : 1;
  });
  EXPECT_GT(found, 0u);
}

TEST(AddedAlgorithms, HaveANumberOfWhatTheyDo) {
  CollectiveAlgorithm other = greedy_tree();
  CollectiveAlgorithm other_in_large_teams = greedy_tree();
  other_in_large_teams.build = [](const AlgorithmCall& call, Rank member, StepList& steps) noexcept {
    greedy_tree().build(call, member, steps);
    if (member == 15) steps.copy({StepMemory::output, 0}, {StepMemory::output, 0}, call.bytes);
  };
  other.build = [](const AlgorithmCall& call, Rank member, StepList& steps) noexcept {
    greedy_tree().build(call, member, steps);
    if (member == 7) steps.copy({StepMemory::output, 0}, {StepMemory::output, 0}, call.bytes);
  };
  const std::string text = text_of(AddedAlgorithm(greedy_tree()));
  EXPECT_THAT(text, StartsWith("broadcast greedy-tree (delay 1 to 64, usually 4), steps "));
  EXPECT_EQ(text, text_of(AddedAlgorithm(greedy_tree())));
  EXPECT_NE(text, text_of(AddedAlgorithm(other)));
  EXPECT_NE(text, text_of(AddedAlgorithm(other_in_large_teams))) << "of 16 members and more";
}

/// 13 ranks on a network in which a message takes two turns of a port. Calls take so long that a search measures each by itself.
constexpr Rank kRanks = 13;
conduits::sim::SimOptions slow_network() {
  conduits::sim::SimOptions options;
  options.latency = 20'000'000;
  options.overhead = 1;
  options.gap = 10'000'000;
  options.femtoseconds_per_byte = 1;
  options.patience = std::chrono::minutes(2);
  return options;
}

Config config_with_tree() {
  Config config;
  EXPECT_TRUE(config.set("segment_bytes", "64K"));
  EXPECT_TRUE(config.add_algorithm(greedy_tree()));
  return config;
}

void run_simulated(const Config& config, const std::function<void(Endpoint&)>& body) {
  conduits::sim::SimNetwork network(kRanks, slow_network(), nullptr, {});
  auto job = runtime::build_in_process(kRanks, config, network);
  ASSERT_TRUE(job) << job.status().text();
  job->run_each(body);
  EXPECT_TRUE(job->finish());
}

constexpr CollOptions kMine{.in = Sync::mine, .out = Sync::mine};

void expect_broadcasts(Endpoint& me, std::size_t words = 1) {
  for (Rank root = 0; root < me.ranks(); ++root) {
    std::vector<std::uint64_t> block(words, me.rank() == root ? 100 + root : 0);
    ASSERT_TRUE(broadcast(me.world(), std::span(block), root, kMine));
    for (const std::uint64_t word : block) ASSERT_EQ(word, 100 + root);
  }
}

std::string explained(Endpoint& me) { return me.world().explain(Collective::broadcast, 8, 8, kMine); }

std::uint64_t uses_of_tree(Endpoint& me) {
  for (const StatisticsRow& one : me.statistics_rows()) {
    if (one.name == "broadcast_greedy-tree") return *one.counter;
  }
  ADD_FAILURE() << "there is no row of it";
  return 0;
}

TEST(AddedAlgorithms, AreChosenByTheModelWhereTheyAreTheFastest) {
  run_simulated(config_with_tree(), [](Endpoint& me) {
    EXPECT_THAT(explained(me), HasSubstr("\n  greedy-tree:delay=2\n"));
    EXPECT_THAT(explained(me), HasSubstr("predicted by replay"));
    EXPECT_THAT(explained(me), HasSubstr("not k-nomial: predicted by replay"));
    expect_broadcasts(me);
    EXPECT_EQ(uses_of_tree(me), kRanks);
  });
}

TEST(AddedAlgorithms, AreChosenByRulesOnlyIfASettingSaysSo) {
  Config config = config_with_tree();
  EXPECT_TRUE(config.set("coll_choice", "rules"));
  run_simulated(config, [](Endpoint& me) {
    EXPECT_THAT(explained(me), HasSubstr("not greedy-tree: it could, but the table prefers another"));
    expect_broadcasts(me);
    EXPECT_EQ(uses_of_tree(me), 0u);
  });
  EXPECT_TRUE(config.set("coll_broadcast", "greedy-tree:delay=3"));
  run_simulated(config, [](Endpoint& me) {
    EXPECT_THAT(explained(me), HasSubstr("\n  greedy-tree:delay=3 (a setting asks for it)\n"));
    expect_broadcasts(me);
    expect_broadcasts(me, /*words=*/100'000);  // in pieces
    EXPECT_EQ(uses_of_tree(me), 2u * kRanks);
  });
}

// The second job takes from the file what the first has found.
TEST(AddedAlgorithms, AreFoundByASearchAndKeptInAFile) {
  const support::ScratchFolder folder;
  Config config = config_with_tree();
  EXPECT_TRUE(config.set("coll_tuning", folder.path()));
  run_simulated(config, [&](Endpoint& me) {
    constexpr std::array kOperations{Collective::broadcast};
    constexpr std::array<std::uint64_t, 1> kBytes{8};
    TuneOptions options;
    options.time = std::chrono::minutes(1);
    options.candidates = 6;
    options.calls = kMine;
    options.save = folder.path();
    const auto report = tune(me.world(), kOperations, kBytes, options);
    ASSERT_TRUE(report) << report.status().text();
    ASSERT_EQ(report->found.size(), 1u);
    EXPECT_THAT(report->found[0].algorithm, StartsWith("greedy-tree"));
    EXPECT_TRUE(report->saved);
    EXPECT_THAT(explained(me), HasSubstr("measured: "));
    expect_broadcasts(me);
  });
  run_simulated(config, [](Endpoint& me) {
    EXPECT_THAT(explained(me), HasSubstr("measured: "));
    EXPECT_THAT(explained(me), HasSubstr("\n  greedy-tree"));
    expect_broadcasts(me);
  });
}

TEST(AddedAlgorithms, AreLeftOutWhereAFileNamesThemAndTheProgramDoesNot) {
  const AddedAlgorithm added(greedy_tree());
  const TuningPlace place{"a machine", "sim"};
  Decision one;
  one.key.operation = Operation::broadcast;
  one.key.ranks = kRanks;
  one.best = {&added.algorithm, {2, 0, 0}, 1000};
  const std::string text = tuning_text(place, {&one, 1});
  EXPECT_THAT(text, HasSubstr("greedy-tree:delay=2"));
  const Algorithm* const list[] = {&added.algorithm};
  EXPECT_EQ(read_tuning(text, place, list).decisions.size(), 1u);
  const TuningRead without = read_tuning(text, place);
  EXPECT_EQ(without.problem, "");
  EXPECT_TRUE(without.decisions.empty());
  EXPECT_EQ(without.unknown, 1u);
}

// What searches and teams that learn choose from: the usual delay, and powers of two up to the number of members.
TEST(AddedAlgorithms, TakePartInSearchesWithTheirParameters) {
  const auto added = std::make_shared<const AddedAlgorithm>(greedy_tree());
  aqueduct::detail::AddedAlgorithms list;
  list.add(added);
  Shape shape;
  shape.operation = Operation::broadcast;
  shape.ranks = kRanks;
  shape.bytes = shape.pitch = 8;
  TeamTraits team{.ranks = kRanks, .one_host = true, .mapped = false};
  team.added = &list;
  std::vector<std::uint32_t> delays;
  for (const Timed& one : candidates_of(key_of(shape, team), team, ScratchLayout({}, kRanks), false)) {
    if (one.algorithm == &added->algorithm) delays.push_back(one.wanted[0]);
  }
  EXPECT_THAT(delays, testing::ElementsAre(0, 1, 2, 8, 16));
}

}  // namespace
}  // namespace aqueduct::coll
