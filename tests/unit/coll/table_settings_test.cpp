// What a setting asks the table for, and how the table explains a choice.

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/operation_word.hpp"
#include "tests/unit/coll/table_choices.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace aqueduct::coll::table_tests {
namespace {

ForcedAlgorithms only(const Algorithm& algorithm, const WantedParameters& wanted = {}) {
  ForcedAlgorithms forced{};
  forced[static_cast<std::size_t>(algorithm.operation)] = {&algorithm, wanted};
  return forced;
}

TEST(Table, DoesWhatASettingAsksFor) {
  const TableChooser table(only(kBroadcastKNomial, {8, 0}));
  const Choice choice =
      table.choose(shape_of(Operation::broadcast, 16, 120'000), network(16), usual_layout(16));
  ASSERT_EQ(choice.algorithm, &kBroadcastKNomial);
  EXPECT_EQ(choice.shape.parameters[0], 8u);
  EXPECT_EQ(choice.shape.parameters[1], 2u) << "the best of such chains, since the setting does not say";
}

TEST(Table, SaysWhoCanDoItIfTheSettingsAlgorithmCannot) {
  const TableChooser table(only(kAllReduceRing));
  Shape shape = shape_of(Operation::all_reduce, 16, 64);
  shape.commutative = false;
  const Choice choice = table.choose(shape, network(16), usual_layout(16));
  EXPECT_EQ(choice.algorithm, nullptr);
  const std::string why(choice.why);
  EXPECT_NE(why.find("ring"), std::string::npos) << why;
  EXPECT_NE(why.find("it needs a commutative operator"), std::string::npos) << why;
  EXPECT_NE(why.find("these can: multiplying, tree, direct, parts, halving"), std::string::npos) << why;
}

TEST(Table, ExplainsItself) {
  Shape shape = shape_of(Operation::all_reduce, 17, kMebi);
  const std::string text = TableChooser().explain(shape, network(17), usual_layout(17));
  EXPECT_NE(text.find("all_reduce of 1048576 bytes, 17 members\n  circulant\n"), std::string::npos) << text;
  EXPECT_NE(text.find("pieces of"), std::string::npos) << text;
  EXPECT_NE(text.find("not halving: it needs a power of two members"), std::string::npos) << text;
  EXPECT_NE(text.find("not multiplying: it could, but the table prefers another"), std::string::npos) << text;
}

// A setting holds for all teams of a job, and a tree for teams of one size (decision 132).
TEST(Table, LeavesWhatATreeOfTheTeamCannotDoToTheRules) {
  for (const Operation operation :
       {Operation::broadcast, Operation::scatter, Operation::gather, Operation::reduce}) {
    ForcedAlgorithms forced;
    for (const Algorithm* const algorithm : all_algorithms()) {
      if (algorithm->operation == operation && algorithm->team_tree)
        forced[static_cast<std::size_t>(operation)].algorithm = algorithm;
    }
    const TableChooser table(forced);
    const Shape shape = shape_of(operation, 4, 64);
    const auto name = [&](const Shape& of, const TeamTraits& team) {
      const Choice choice = table.choose(of, team, usual_layout(4));
      return choice.algorithm == nullptr ? std::string("none") : name_of(*choice.algorithm, choice.shape);
    };
    TeamTraits team = network(4);
    EXPECT_EQ(name(shape, team), chosen(shape, team)) << operation_word(operation);
    const std::string without = table.explain(shape, team, usual_layout(4));
    EXPECT_NE(without.find("(a setting asks for team-tree, but the team has no tree)"), std::string::npos)
        << without;
    EXPECT_NE(without.find("not team-tree: the team has no tree: neither AQUEDUCT_COLL_TREE nor"),
              std::string::npos)
        << without;
    const TeamTree tree(std::vector<Rank>{2, 2, kNoRank, 0});
    team.tree = &tree;
    EXPECT_EQ(name(shape, team).rfind("team-tree", 0), 0u) << operation_word(operation);
    const std::string with = table.explain(shape, team, usual_layout(4));
    EXPECT_NE(with.find("(a setting asks for it)"), std::string::npos) << with;
    Shape exact = shape;
    exact.order = Order::exact;
    Shape ordered = shape;
    ordered.commutative = false;
    if (operation != Operation::reduce) continue;
    for (const Shape& one : {exact, ordered}) {
      EXPECT_EQ(name(one, team), chosen(one, team));
      const std::string text = table.explain(one, team, usual_layout(4));
      EXPECT_NE(text.find("(a setting asks for team-tree, but it combines in the order of its tree)"),
                std::string::npos)
          << text;
    }
  }
}

}  // namespace
}  // namespace aqueduct::coll::table_tests
