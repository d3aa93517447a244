#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/groups.hpp"
#include "coll/schedule/groups_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace aqueduct::coll {
namespace {

/// Members whose hosts are the letters of a word.
Groups groups_of(const std::string& word) {
  return {static_cast<Rank>(word.size()), [&](Rank position) { return static_cast<Rank>(word[position]); }};
}

TEST(Groups, StandInTheOrderOfTheirFirstMembers) {
  const Groups groups = groups_of("babcb");
  ASSERT_EQ(groups.count(), 3u);
  EXPECT_EQ(groups.most(), 3u);
  EXPECT_TRUE(groups.are_of_use());
  EXPECT_FALSE(groups.in_team_order());
  std::vector<Rank> row;
  for (Rank place = 0; place < groups.ranks(); ++place) row.push_back(groups.member_at(place));
  EXPECT_EQ(row, (std::vector<Rank>{0, 2, 4, 1, 3}));
  for (Rank position = 0; position < groups.ranks(); ++position) {
    EXPECT_EQ(groups.member_at(groups.place_of(position)), position);
    const Rank group = groups.group_of(position);
    EXPECT_GE(groups.place_of(position), groups.begin(group));
    EXPECT_LT(groups.place_of(position), groups.begin(group) + groups.size(group));
  }
  EXPECT_EQ(groups.leader_of(0), 0u);
  EXPECT_EQ(groups.leader_of(1), 1u);
  EXPECT_EQ(groups.leader_of(2), 3u);
}

TEST(Groups, AllToAllRefusesWhatItsCountersCannotCount) {
  const auto refusal = [](Rank on_one, Rank others) {
    const Groups groups{on_one + others,
                        [&](Rank position) { return position < on_one ? 0 : position - on_one + 1; }};
    Shape shape;
    shape.operation = Operation::all_to_all;
    shape.ranks = groups.ranks();
    shape.bytes = 8;
    shape.groups.of = &groups;
    return std::string(kAllToAllHosts.refusal(shape) != nullptr ? "refuses" : "takes");
  };
  EXPECT_EQ(refusal(256, 257), "takes");  // 65,535 messages
  EXPECT_EQ(refusal(257, 256), "refuses");
  EXPECT_EQ(refusal(260, 260), "refuses");
}

TEST(Groups, AreOfNoUseOnOneHostOrWithEachOnItsOwn) {
  EXPECT_FALSE(groups_of("aaa").are_of_use());
  EXPECT_FALSE(groups_of("abc").are_of_use());
  EXPECT_TRUE(groups_of("aab").are_of_use());
  EXPECT_TRUE(groups_of("aab").in_team_order());
}

/// "0(2 1)": a member with its children in the order of sending.
std::string text(const GroupsTree& tree, Rank position) {
  std::string out = std::to_string(position);
  for (std::uint32_t i = 0; i < tree.children(position); ++i)
    out += (i == 0 ? "(" : " ") + text(tree, tree.child(position, i));
  return out + (tree.children(position) > 0 ? ")" : "");
}

TEST(GroupsTree, CrossesToEachHostOnce) {
  const Groups groups = groups_of("aabbccc");
  EXPECT_EQ(text(GroupsTree(groups, 0, 2), 0), "0(4(5 6) 2(3) 1)");
  EXPECT_EQ(text(GroupsTree(groups, 3, 2), 3), "3(0(1) 4(5 6) 2)") << "the root leads its host";
  EXPECT_EQ(text(GroupsTree(groups_of("abab"), 2, 2), 2), "2(1(3) 0)");
}

TEST(GroupsTree, AnswersAgree) {
  for (const std::string& word :
       {std::string("aab"), std::string("abcabcab"), std::string("aaaaabcddddeefff")}) {
    const Groups groups = groups_of(word);
    for (const std::uint32_t radix : {2u, 3u, 64u}) {
      for (Rank root = 0; root < groups.ranks(); ++root) {
        const GroupsTree tree(groups, root, radix);
        Rank edges = 0;
        Rank crossings = 0;
        std::uint64_t moved = 0;
        for (Rank position = 0; position < groups.ranks(); ++position) {
          EXPECT_LE(tree.children(position), tree.most_children());
          for (std::uint32_t i = 0; i < tree.children(position); ++i) {
            const Rank child = tree.child(position, i);
            ASSERT_LT(child, groups.ranks());
            EXPECT_EQ(tree.parent(child), position);
            EXPECT_EQ(tree.index_of(child), i);
            ++edges;
            crossings += groups.group_of(child) != groups.group_of(position) ? 1 : 0;
          }
          std::uint32_t up = 0;
          for (Rank at = position; !tree.is_root(at); at = tree.parent(at)) {
            ASSERT_LE(++up, tree.depth());
            // Whoever is above has the member's place among those below it.
            const GroupsTree::Places above = tree.places(tree.parent(at));
            EXPECT_GE(tree.place_of(position), above.first);
            EXPECT_LT(tree.place_of(position), above.first + above.count);
          }
          moved += up;
          Rank below = 1;
          for (std::uint32_t i = 0; i < tree.children(position); ++i)
            below += tree.places(tree.child(position, i)).count;
          EXPECT_EQ(tree.places(position).count, below);
        }
        EXPECT_EQ(edges, groups.ranks() - 1);
        EXPECT_EQ(tree.blocks_moved(), moved) << word << ", radix " << radix << ", root " << root;
        EXPECT_EQ(crossings, groups.count() - 1);
      }
    }
  }
}

TEST(GroupsTree, HasPlacesFromTheHostOfTheRootOn) {
  const Groups groups = groups_of("aabbccc");
  const GroupsTree tree(groups, 3, 2);  // 3(0(1) 4(5 6) 2)
  std::vector<Rank> places;
  for (Rank position = 0; position < groups.ranks(); ++position) places.push_back(tree.place_of(position));
  EXPECT_EQ(places, (std::vector<Rank>{5, 6, 0, 1, 2, 3, 4}));
  EXPECT_EQ(tree.places(3).first, 0u);
  EXPECT_EQ(tree.places(3).count, 7u);
  EXPECT_EQ(tree.places(4).first, 2u);
  EXPECT_EQ(tree.places(4).count, 3u);
  EXPECT_EQ(tree.places(5).first, 3u);
  EXPECT_EQ(tree.places(5).count, 1u);
}

}  // namespace
}  // namespace aqueduct::coll
