#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/schedule/team_tree.hpp"
#include "coll/schedule/tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace aqueduct::coll {
namespace {

using testing::HasSubstr;

std::vector<Rank> parents_of(const Tree& tree) {
  std::vector<Rank> parents(tree.ranks, kNoRank);
  for (Rank i = 1; i < tree.ranks; ++i) parents[i] = tree.parent(i);
  return parents;
}

/// A tree of chance: each member in an order of chance is below one that stands before it.
std::vector<Rank> parents_by_chance(Rank ranks, std::mt19937& chance) {
  std::vector<Rank> order(ranks);
  std::iota(order.begin(), order.end(), Rank{0});
  std::shuffle(order.begin(), order.end(), chance);
  std::vector<Rank> parents(ranks, kNoRank);
  for (Rank i = 1; i < ranks; ++i) parents[order[i]] = order[chance() % i];
  return parents;
}

template <class AnyTree>
std::string text(const AnyTree& tree, Rank member) {
  std::string out = std::to_string(member);
  for (std::uint32_t i = 0; i < tree.children(member); ++i)
    out += (i == 0 ? "(" : " ") + text(tree, tree.child(member, i));
  return out + (tree.children(member) > 0 ? ")" : "");
}

TEST(TeamTree, OfTheParentsOfAFormulaIsThatTree) {
  for (const Tree::Kind kind : {Tree::Kind::k_ary, Tree::Kind::k_nomial}) {
    for (Rank ranks = 1; ranks <= 40; ++ranks) {
      for (const std::uint32_t radix : {1u, 2u, 3u, 5u, 40u}) {
        const Tree formula{kind, radix, ranks};
        const TeamTree tree(parents_of(formula));
        EXPECT_TRUE(tree.in_team_order());
        EXPECT_EQ(tree.depth(), formula.depth());
        ASSERT_EQ(text(RootedTeamTree(tree, 0), 0), text(formula, 0)) << ranks << " radix " << radix;
      }
    }
  }
}

TEST(TeamTree, KeepsItsEdgesForAnotherRoot) {
  const TeamTree tree(parents_of({Tree::Kind::k_nomial, 2, 8}));
  EXPECT_EQ(text(RootedTeamTree(tree, 0), 0), "0(4(6(7) 5) 2(3) 1)");
  EXPECT_EQ(text(RootedTeamTree(tree, 4), 4), "4(0(2(3) 1) 6(7) 5)");
  EXPECT_EQ(text(RootedTeamTree(tree, 7), 7), "7(6(4(0(2(3) 1) 5)))");
}

/// Follows the children from the root on, and checks each answer against what was found. Returns the size of the subtree.
Rank walk(const TeamTree& stored, const RootedTeamTree& tree, Rank member, std::uint32_t depth,
          std::vector<bool>& seen, std::uint32_t& deepest) {
  EXPECT_FALSE(seen[member]) << "two ways lead to " << member;
  seen[member] = true;
  deepest = std::max(deepest, depth);
  EXPECT_LE(tree.children(member), tree.most_children());
  std::vector<bool> covered(tree.subtree(member));
  const auto cover = [&](Rank first, Rank count) {
    for (Rank i = 0; i < count; ++i) {
      const Rank at = tree.behind(tree.begin(member), (first + i) % stored.ranks());
      if (at >= covered.size() || covered[at]) {
        ADD_FAILURE() << "place " << first + i << " is not once in the range of " << member;
        return;
      }
      covered[at] = true;
    }
  };
  cover(stored.place_of(member), 1);
  Rank size = 1;
  for (std::uint32_t i = 0; i < tree.children(member); ++i) {
    const Rank child = tree.child(member, i);
    EXPECT_FALSE(tree.is_root(child));
    EXPECT_EQ(tree.parent(child), member);
    EXPECT_EQ(tree.index_of(child), i);
    EXPECT_TRUE(stored.parent(child) == member || stored.parent(member) == child) << "an edge of its own";
    const Rank below = walk(stored, tree, child, depth + 1, seen, deepest);
    cover(tree.begin(child), below);
    for (Rank j = 0; tree.is_root(member) && j < below; ++j) {
      const Rank one = stored.member_at((tree.begin(child) + j) % stored.ranks());
      EXPECT_EQ(tree.child_toward(one), i) << one;
    }
    size += below;
  }
  EXPECT_EQ(size, tree.subtree(member));
  EXPECT_EQ(std::count(covered.begin(), covered.end(), true), std::ssize(covered));
  return size;
}

// Subtrees are ranges of the ring of places, whichever member is the root, also where they are no ranges of the team.
TEST(TeamTree, OfChanceAnswersAlikeForEveryRoot) {
  std::mt19937 chance(20261129);
  for (Rank ranks = 1; ranks <= 33; ++ranks) {
    for (int i = 0; i < 4; ++i) {
      const std::vector<Rank> parents = parents_by_chance(ranks, chance);
      ASSERT_EQ(TeamTree::objection(parents), "");
      const TeamTree tree(parents);
      for (Rank root = 0; root < ranks; ++root) {
        SCOPED_TRACE(testing::Message() << ranks << " members, tree " << i << ", root " << root);
        const RootedTeamTree rooted(tree, root);
        std::vector<bool> seen(ranks);
        std::uint32_t deepest = 0;
        ASSERT_EQ(walk(tree, rooted, root, 0, seen, deepest), ranks);
        ASSERT_LE(deepest, rooted.depth());
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST(TeamTree, HasRunsOfMembersThatFollowOneAnother) {
  // 2 has 0 and 3 below it, and 0 has 1: in the ring 2, 3, 0, 1 members follow one another.
  const TeamTree turned(std::vector<Rank>{2, 0, kNoRank, 2});
  EXPECT_TRUE(turned.in_team_order());
  EXPECT_EQ(turned.place_of(3), 3u);
  // 0 has 2, 2 has 1: the ring is 0, 2, 1, 3.
  const TeamTree shuffled(std::vector<Rank>{kNoRank, 2, 0, 0});
  EXPECT_FALSE(shuffled.in_team_order());
  EXPECT_EQ(shuffled.runs(), 4u);
  EXPECT_EQ(shuffled.member_at(1), 2u);
  EXPECT_EQ(shuffled.run_of(2), 2u);
}

TEST(TeamTree, RefusesWhatIsNoTree) {
  EXPECT_EQ(TeamTree::objection(std::vector<Rank>{kNoRank}), "");
  EXPECT_EQ(TeamTree::objection(std::vector<Rank>{1, kNoRank, 1}), "");
  EXPECT_THAT(TeamTree::objection(std::vector<Rank>{kNoRank, 0, kNoRank}),
              HasSubstr("several roots: 0 and 2"));
  EXPECT_THAT(TeamTree::objection(std::vector<Rank>{1, 2, 0}), HasSubstr("no root"));
  EXPECT_THAT(TeamTree::objection(std::vector<Rank>{}), HasSubstr("no root"));
  EXPECT_THAT(TeamTree::objection(std::vector<Rank>{kNoRank, 0, 3}), HasSubstr("parent of 2 is 3"));
  EXPECT_THAT(TeamTree::objection(std::vector<Rank>{kNoRank, 1}), HasSubstr("1 is its own ancestor"));
  EXPECT_THAT(TeamTree::objection(std::vector<Rank>{kNoRank, 2, 3, 1, 2}), HasSubstr("its own ancestor"));
}

/// The copies of a member's schedule, without that of its own block.
std::uint64_t extra_copies(const Algorithm& algorithm, const Shape& shape, Rank member) {
  std::uint64_t copies = 0;
  for (std::uint32_t i = 0; i < algorithm.length(shape, member, 0); ++i)
    copies += algorithm.step(shape, member, 0, i).kind == Step::Kind::copy ? 1 : 0;
  return copies - 1;
}

// N-39: to reorder costs copies, and where subtrees are ranges of the team, none.
TEST(TeamTree, ReordersBlocksOnlyIfSubtreesAreNoRangesOfTheTeam) {
  Shape shape;
  shape.operation = Operation::scatter;
  shape.ranks = 12;
  shape.bytes = shape.pitch = 8;
  const TeamTree by_ranges(parents_of({Tree::Kind::k_ary, 3, 12}));
  std::mt19937 chance(3);
  const TeamTree by_chance(parents_by_chance(12, chance));
  for (shape.root = 0; shape.root < shape.ranks; ++shape.root) {
    shape.team_tree.of = &by_ranges;
    for (Rank member = 0; member < shape.ranks; ++member)
      EXPECT_EQ(extra_copies(kScatterTeamTree, shape, member), 0u) << member << " root " << shape.root;
    shape.team_tree.of = &by_chance;
    EXPECT_GE(extra_copies(kScatterTeamTree, shape, shape.root), by_chance.runs() - 1);
    EXPECT_LE(extra_copies(kScatterTeamTree, shape, shape.root), by_chance.runs() + 1);
  }
}

TEST(TeamTree, IsNeededByItsAlgorithms) {
  Shape shape;
  shape.operation = Operation::broadcast;
  shape.ranks = 3;
  shape.bytes = shape.pitch = 8;
  shape.parameters = {1};
  const char* const refusal = Schedule::refusal(kBroadcastTeamTree, shape);
  ASSERT_NE(refusal, nullptr);
  EXPECT_THAT(refusal, HasSubstr("AQUEDUCT_COLL_TREE"));
  const TeamTree tree(std::vector<Rank>{2, 2, kNoRank});
  shape.team_tree.of = &tree;
  EXPECT_EQ(Schedule::refusal(kBroadcastTeamTree, shape), nullptr);
  EXPECT_FALSE(shifts_with_root(shape)) << "another root has another schedule";
}

}  // namespace
}  // namespace aqueduct::coll
