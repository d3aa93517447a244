#include "coll/schedule/tree_recipe.hpp"
#include "coll/tune/tree_setting.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace aqueduct::coll {
namespace {

using testing::HasSubstr;

TreeRecipe recipe(const std::string& text) {
  const RecipeRead read = read_tree_recipe(text);
  EXPECT_EQ(read.problem, "") << text;
  return read.recipe;
}
std::string problem(const std::string& text) { return read_tree_recipe(text).problem; }

std::string text_of(const RootedTeamTree& tree, Rank member) {
  std::string out = std::to_string(member);
  for (std::uint32_t i = 0; i < tree.children(member); ++i)
    out += (i == 0 ? "(" : " ") + text_of(tree, tree.child(member, i));
  return out + (tree.children(member) > 0 ? ")" : "");
}
std::string drawn(const std::string& text, Rank ranks, const Groups* hosts = nullptr) {
  const TeamTree tree = recipe(text).tree(ranks, hosts);
  return text_of(RootedTeamTree(tree, tree.root()), tree.root());
}

const std::vector<std::string> kClasses{"2-ary", "8-nomial", "flat", "chain", "fork:2x2"};

// N-35: "8-nomial over 4-ary".
TEST(TreeRecipe, IsWrittenAsItIsRead) {
  std::vector<std::string> texts{"8-nomial over 4-ary", "4-ary order=3,1,0,2", "flat order=hosts",
                                 "2-nomial over chain portion=3 order=1,0,2", "parents=1,-,1,2"};
  for (const std::string& one : kClasses) {
    texts.push_back(one);
    for (const std::string& other : kClasses) texts.push_back(one + " over " + other + " portion=4");
  }
  for (const std::string& text : texts) EXPECT_EQ(recipe(text).text(), text);
  EXPECT_EQ(recipe(" 8-nomial\n over  4-ary\tportion=hosts\n").text(), "8-nomial over 4-ary");
}

TEST(TreeRecipe, SaysWhatIsWrong) {
  EXPECT_THAT(problem(""), HasSubstr("K-ary"));
  EXPECT_THAT(problem("1-ary"), HasSubstr("K-ary"));
  EXPECT_THAT(problem("fork:2"), HasSubstr("fork:ROWxROWS"));
  EXPECT_THAT(problem("fork:0x2"), HasSubstr("fork:ROWxROWS"));
  EXPECT_THAT(problem("2-ary over"), HasSubstr("K-ary"));
  EXPECT_THAT(problem("2-ary above flat"), HasSubstr("\"above\""));
  EXPECT_THAT(problem("2-ary over flat over chain"), HasSubstr("\"over\" is there twice"));
  EXPECT_THAT(problem("2-ary portion=3"), HasSubstr("CLASS over CLASS"));
  EXPECT_THAT(problem("2-ary over flat portion=0"), HasSubstr("portion"));
  EXPECT_THAT(problem("2-ary over flat order=1,0"), HasSubstr("how many members"));
  EXPECT_THAT(problem("2-ary order=0,,1"), HasSubstr("order"));
  EXPECT_THAT(problem("2-ary order=0,2"), HasSubstr("names 2"));
  EXPECT_THAT(problem("2-ary order=1,0,1"), HasSubstr("1 twice"));
  EXPECT_THAT(problem("parents=-,0 flat"), HasSubstr("nothing may follow"));
  EXPECT_THAT(problem("parents=-,0,x"), HasSubstr("whole numbers"));
  EXPECT_THAT(problem("parents=-,0,-"), HasSubstr("several roots"));
  EXPECT_THAT(problem("parents=1,2,0"), HasSubstr("no root"));
  EXPECT_THAT(problem("parents=-,9"), HasSubstr("none of the 2 members"));
  EXPECT_THAT(problem("parents=-,2,1"), HasSubstr("own ancestor"));
}

TEST(TreeRecipe, MakesTrees) {
  EXPECT_EQ(drawn("2-nomial", 8), "0(4(6(7) 5) 2(3) 1)");
  EXPECT_EQ(drawn("2-nomial order=7,6,5,4,3,2,1,0", 8), "7(3(1(0) 2) 5(4) 6)");
  EXPECT_EQ(drawn("fork:2x2", 8), "0(4(6(7) 5) 2(3) 1)");
  EXPECT_EQ(drawn("2-nomial over flat portion=3", 8), "0(6(7) 3(5 4) 2 1)");
  EXPECT_EQ(drawn("chain over 2-nomial portion=4", 8), "0(4(6(7) 5) 2(3) 1)");
  EXPECT_EQ(drawn("parents=1,-,1,2", 4), "1(0 2(3))");
}

TEST(TreeRecipe, GoesByHosts) {
  const Groups in_turn(6, [](Rank member) { return member % 2; });
  EXPECT_EQ(drawn("flat over chain", 6, &in_turn), "0(1(3(5)) 2(4))");
  EXPECT_EQ(drawn("chain order=hosts", 6, &in_turn), "0(2(4(1(3(5)))))");
  EXPECT_EQ(drawn("chain", 6, &in_turn), "0(1(2(3(4(5)))))");
  EXPECT_EQ(drawn("flat over chain", 4), "0(1(2(3)))") << "all on one host";
}

// Of a tree over hosts, the fewest edges are between hosts, also if the root is no leader.
TEST(TreeRecipe, OverHostsCrossesToEachHostOnce) {
  const Groups hosts(11, [](Rank member) { return member * 7 % 11 % 3; });
  for (const std::string& upper : kClasses) {
    for (const std::string& lower : kClasses) {
      const TeamTree tree = recipe(upper + " over " + lower).tree(11, &hosts);
      Rank between = 0;
      for (Rank member = 0; member < 11; ++member) {
        if (member != tree.root())
          between += hosts.group_of(member) != hosts.group_of(tree.parent(member)) ? 1 : 0;
      }
      EXPECT_EQ(between, hosts.count() - 1) << upper << " over " << lower;
    }
  }
}

// N-35: the composition of any two classes is a valid tree, for any number of members and any portion.
TEST(TreeRecipe, ComposesAnyTwoClasses) {
  for (const std::string& upper : kClasses) {
    for (const std::string& lower : kClasses) {
      for (Rank ranks = 1; ranks <= 40; ++ranks) {
        for (const int portion : {1, 3, 8, 64}) {
          const std::string text = upper + " over " + lower + " portion=" + std::to_string(portion);
          const TreeRecipe made = recipe(text);
          ASSERT_EQ(made.refusal(ranks), "");
          const TeamTree tree = made.tree(ranks, nullptr);
          std::vector<Rank> parents;
          for (Rank member = 0; member < ranks; ++member) parents.push_back(tree.parent(member));
          ASSERT_EQ(TeamTree::objection(parents), "") << text << " of " << ranks;
          ASSERT_TRUE(tree.in_team_order()) << text << " of " << ranks;
          for (Rank member = 0; member < ranks; ++member) {
            const Rank first = member / portion * portion;
            if (member != first) {
              ASSERT_GE(tree.parent(member), first) << text << ": " << member << " is below another portion";
            }
          }
        }
      }
    }
  }
}

// Every edge of a fork tree is a link of the mesh, whoever is the root.
TEST(TreeRecipe, OfAForkKeepsToTheLinksOfTheMeshForEveryRoot) {
  constexpr Rank kRow = 4, kRows = 3;
  const TeamTree tree = recipe("fork:4x3").tree(24, nullptr);
  const auto distance = [](Rank a, Rank b) {
    const auto apart = [](Rank x, Rank y) { return x > y ? x - y : y - x; };
    return apart(a % kRow, b % kRow) + apart(a / kRow % kRows, b / kRow % kRows) +
           apart(a / (kRow * kRows), b / (kRow * kRows));
  };
  for (Rank root = 0; root < 24; ++root) {
    const RootedTeamTree rooted(tree, root);
    for (Rank member = 0; member < 24; ++member) {
      if (member == root) continue;
      EXPECT_EQ(distance(member, rooted.parent(member)), 1u) << member << " root " << root;
    }
  }
}

TEST(TreeRecipe, OfALegalListIsForThatManyMembers) {
  EXPECT_EQ(recipe("4-ary").refusal(7), "");
  EXPECT_EQ(recipe("4-ary order=2,0,1").refusal(3), "");
  EXPECT_THAT(recipe("4-ary order=2,0,1").refusal(4), HasSubstr("for 3 members, and the team has 4"));
  EXPECT_THAT(recipe("parents=-,0").refusal(3), HasSubstr("for 2 members"));
}

TEST(TreeSetting, MayNameAFile) {
  const support::ScratchFolder folder;
  const std::string path = (folder / "tree").string();
  std::ofstream(path) << "parents=1,-,\n";
  const SettingInfo& info = tree_settings()[0];
  EXPECT_THAT(tree_objection(info, "file=" + path), HasSubstr("whole numbers"));
  std::ofstream(path) << "parents=1,-,1\n";
  EXPECT_EQ(tree_objection(info, "file=" + path), "");
  EXPECT_EQ(read_tree("file=" + path).recipe->text(), "parents=1,-,1");
  EXPECT_THAT(tree_objection(info, "file=" + path + ".not"), HasSubstr("cannot be read"));
  EXPECT_THAT(tree_objection(info, "file=/dev/zero"), HasSubstr("no regular file"));
  EXPECT_THAT(tree_objection(info, "file=/"), HasSubstr("no regular file"));
  std::ofstream(path, std::ios::trunc) << "";
  EXPECT_THAT(tree_objection(info, "file=" + path), HasSubstr("is empty"));
  std::ofstream(path, std::ios::trunc) << "4-ary\r\nportion=hosts over\r\n2-ary\r\n";
  EXPECT_EQ(tree_objection(info, "file=" + path), "");
  std::ofstream(path, std::ios::trunc) << "flat " + std::string(100'000, 'x');
  EXPECT_LT(tree_objection(info, "file=" + path).size(), 300u);
  EXPECT_EQ(tree_objection(info, "flat over flat portion=100000"), "");
  EXPECT_EQ(tree_objection(info, "none"), "");
  EXPECT_FALSE(read_tree("none").recipe.has_value());
  EXPECT_THAT(tree_objection(info, "oak"), HasSubstr("AQUEDUCT_COLL_TREE=oak: a tree is K-ary"));
}

}  // namespace
}  // namespace aqueduct::coll
