#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/coll_settings.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace aqueduct::coll {
namespace {

void expect_read(Operation operation, std::string_view value, const Algorithm* algorithm,
                 const WantedParameters& wanted) {
  const ForcedRead read = read_forced(operation, value);
  EXPECT_EQ(read.problem, "") << value;
  EXPECT_EQ(read.forced.algorithm, algorithm) << value;
  EXPECT_EQ(read.forced.wanted, wanted) << value;
}

void expect_problem(std::string_view value, std::string_view words) {
  const ForcedRead read = read_forced(Operation::broadcast, value);
  EXPECT_NE(read.problem.find(words), std::string::npos) << value << ": " << read.problem;
  EXPECT_EQ(read.forced.algorithm, nullptr) << value;
}

TEST(CollSettings, ReadAlgorithmsAndTheirParameters) {
  expect_read(Operation::broadcast, "auto", nullptr, {});
  expect_read(Operation::broadcast, "k-nomial", &kBroadcastKNomial, {});
  expect_read(Operation::broadcast, "k-nomial:8", &kBroadcastKNomial, {8});
  expect_read(Operation::broadcast, "k-nomial:8,4", &kBroadcastKNomial, {8, 4});
  expect_read(Operation::broadcast, "k-nomial:segments=4", &kBroadcastKNomial, {0, 4});
  expect_read(Operation::broadcast, "k-nomial:segments=4,radix=8", &kBroadcastKNomial, {8, 4});
  expect_read(Operation::all_reduce, "ring", &kAllReduceRing, {});
}

TEST(CollSettings, RefuseWhatTheyCannotRead) {
  expect_problem("k-nominal", "did you mean k-nomial?");
  expect_problem("ring", "it may be auto, flat, chain");  // of other operations
  expect_problem("", "there is no such algorithm");
  expect_problem("k-nomial:", "missing after the colon");
  expect_problem("k-nomial:8,", "missing after the last comma");
  expect_problem("k-nomial:1", "radix may be a whole number from 2 to 64");
  expect_problem("k-nomial:8x", "radix may be");
  expect_problem("k-nomial:-8", "radix may be");
  expect_problem("k-nomial:99999999999", "radix may be");
  expect_problem("k-nomial:8,4,2", "has fewer parameters; it has radix (2 to 64) and segments");
  expect_problem("k-nomial:8,radix=8", "radix is given twice");
  expect_problem("k-nomial:segment=8", "did you mean segments?");
  expect_problem("scatter-all-gather:2", "it has no parameters");
  expect_problem("k-nomial:,4", "radix may be");
}

TEST(CollSettings, AreCheckedWhenTheyAreSet) {
  Config config;
  EXPECT_EQ(config.text("coll_broadcast"), "auto");
  EXPECT_FALSE(config.set("coll_broadcast", "circulent"));
  ASSERT_EQ(config.problems().size(), 1u);
  const std::string problem = config.problems().front().text;
  EXPECT_NE(problem.find("AQUEDUCT_COLL_BROADCAST=circulent: "), std::string::npos) << problem;
  EXPECT_NE(problem.find("did you mean circulant?"), std::string::npos) << problem;
  EXPECT_TRUE(config.set("coll_broadcast", "circulant:segments=2"));
  EXPECT_TRUE(config.problems().empty());

  const ForcedAlgorithms forced = forced_algorithms(config);
  const Forced& broadcast = forced[static_cast<std::size_t>(Operation::broadcast)];
  EXPECT_EQ(broadcast.algorithm, &kBroadcastCirculant);
  EXPECT_EQ(broadcast.wanted[0], 2u);
  EXPECT_EQ(forced[static_cast<std::size_t>(Operation::scatter)].algorithm, nullptr);
}

// What explain() prints can be copied into a setting.
TEST(CollSettings, ReadTheNamesThatAreShown) {
  for (const Algorithm* const algorithm : all_algorithms()) {
    Shape shape;
    WantedParameters wanted{};
    for (std::size_t i = 0; i < algorithm->parameters.size(); ++i)
      shape.parameters[i] = wanted[i] = algorithm->parameters[i].most;
    expect_read(algorithm->operation, name_of(*algorithm, shape), algorithm, wanted);
  }
}

// Every operation that has algorithms has a setting, which knows them all.
TEST(CollSettings, AreThereForAllAlgorithms) {
  for (const Algorithm* const algorithm : all_algorithms())
    EXPECT_EQ(read_forced(algorithm->operation, algorithm->name).forced.algorithm, algorithm);
  EXPECT_EQ(algorithm_settings().size(), 13u);
  for (const SettingInfo& info : algorithm_settings()) {
    EXPECT_TRUE(info.same_on_all_ranks) << info.name;
    EXPECT_EQ(algorithm_objection(info, "auto"), "");
    EXPECT_NE(algorithm_objection(info, "none at all"), "") << info.name;
    EXPECT_EQ(info.name, "coll_" + std::string(operation_word(operation_of(info))));
  }
}

}  // namespace
}  // namespace aqueduct::coll
