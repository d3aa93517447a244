#include "coll/schedule/tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace aqueduct::coll {
namespace {

/// "0(4(6(7) 5) 1(3 2))": each position with its children in the order of sending.
std::string text(const Tree& tree, Rank position = 0) {
  std::string out = std::to_string(position);
  for (std::uint32_t i = 0; i < tree.children(position); ++i)
    out += (i == 0 ? "(" : " ") + text(tree, tree.child(position, i));
  return out + (tree.children(position) > 0 ? ")" : "");
}

Tree k_ary(std::uint32_t radix, Rank ranks) { return {Tree::Kind::k_ary, radix, ranks}; }
Tree k_nomial(std::uint32_t radix, Rank ranks) { return {Tree::Kind::k_nomial, radix, ranks}; }

// The vectors are those of requirement D-1.
TEST(Tree, OfEightIsAsInTheRequirement) {
  EXPECT_EQ(text(k_ary(2, 8)), "0(4(6(7) 5) 1(3 2))");
  EXPECT_EQ(text(k_ary(3, 8)), "0(6(7) 3(5 4) 1(2))");
  EXPECT_EQ(text(k_ary(4, 8)), "0(6(7) 4(5) 2(3) 1)");
  EXPECT_EQ(text(k_ary(8, 8)), "0(7 6 5 4 3 2 1)");
  EXPECT_EQ(text(k_nomial(2, 8)), "0(4(6(7) 5) 2(3) 1)");
  EXPECT_EQ(text(k_nomial(3, 8)), "0(6(7) 3(5 4) 2 1)");
  EXPECT_EQ(text(k_nomial(4, 8)), "0(4(7 6 5) 3 2 1)");
  EXPECT_EQ(text(Tree::flat(8)), "0(7 6 5 4 3 2 1)");
  EXPECT_EQ(text(k_ary(7, 8)), "0(6(7) 4(5) 2(3) 1)") << "radix P - 1 is not flat";
}

TEST(Tree, OfRadixOneIsAChain) {
  EXPECT_EQ(text(k_ary(1, 4)), "0(1(2(3)))");
  EXPECT_EQ(text(k_nomial(1, 4)), "0(1(2(3)))");
}

/// What the tree must be, from its children alone.
struct Walked {
  std::uint32_t visited = 0;
  std::uint32_t depth = 0;
  std::uint64_t sum_of_depths = 0;
};

/// Returns the size of the subtree; checks all answers for it.
Rank walk(const Tree& tree, Rank position, std::uint32_t depth, Walked& walked) {
  ++walked.visited;
  walked.depth = std::max(walked.depth, depth);
  walked.sum_of_depths += depth;
  Rank size = 1;
  Rank after_last = position + 1;  // the children in rising order follow one another
  for (std::uint32_t i = tree.children(position); i-- > 0;) {
    const Rank child = tree.child(position, i);
    EXPECT_EQ(child, after_last);
    EXPECT_EQ(tree.parent(child), position);
    EXPECT_EQ(tree.index_of(child), i);
    const Rank below = walk(tree, child, depth + 1, walked);
    after_last = child + below;
    size += below;
  }
  EXPECT_EQ(tree.subtree(position), size);
  EXPECT_LE(tree.children(position), tree.most_children());
  return size;
}

TEST(Tree, HasEveryPositionOnceInContiguousSubtrees) {
  for (Rank ranks = 1; ranks <= 200; ++ranks) {
    for (std::uint32_t radix = 1; radix <= 16; ++radix) {
      for (const Tree& tree : {k_ary(radix, ranks), k_nomial(radix, ranks)}) {
        Walked walked;
        EXPECT_EQ(walk(tree, 0, 0, walked), ranks);
        EXPECT_EQ(walked.visited, ranks);
        EXPECT_EQ(tree.depth(), walked.depth);
        if (radix > 1) {
          EXPECT_LE(walked.depth, std::ceil(std::log(ranks) / std::log(radix) - 1e-9));
        }
        if (tree.kind == Tree::Kind::k_ary) {
          EXPECT_LE(tree.most_children(), radix);
        }
        ASSERT_FALSE(testing::Test::HasFailure()) << "radix " << radix << ", " << ranks << " positions";
      }
    }
  }
}

TEST(Tree, WithTheSizesOfSubtreesAnswersAreTheSame) {
  for (Rank ranks = 1; ranks <= 100; ++ranks) {
    for (std::uint32_t radix = 2; radix <= 9; ++radix) {
      const Tree tree = k_ary(radix, ranks);
      std::vector<Rank> sizes(ranks);
      tree.subtrees(sizes);
      for (Rank position = 0; position < ranks; ++position) {
        ASSERT_EQ(sizes[position], tree.subtree(position)) << ranks << " by " << radix << ": " << position;
        ASSERT_EQ(tree.children(position, sizes[position]), tree.children(position));
        for (std::uint32_t i = 0; i < tree.children(position); ++i)
          ASSERT_EQ(tree.child(position, sizes[position], i), tree.child(position, i));
      }
    }
  }
}

// Requirement N-34: every edge joins neighbours of the mesh.
TEST(Tree, ForkGoesAlongTheMesh) {
  EXPECT_EQ(text(Tree::fork(2, 2, 8)), "0(4(6(7) 5) 2(3) 1)");
  EXPECT_EQ(text(Tree::fork(3, 1, 8)), "0(3(6(7) 4(5)) 1(2))");
  EXPECT_EQ(Tree::fork(8, 8, 512).depth(), 21u);
  for (const std::uint32_t row : {1u, 2u, 3u, 5u, 300u}) {
    for (const std::uint32_t rows : {1u, 2u, 4u}) {
      for (Rank ranks = 1; ranks <= 100; ++ranks) {
        const Tree tree = Tree::fork(row, rows, ranks);
        Walked walked;
        EXPECT_EQ(walk(tree, 0, 0, walked), ranks);
        EXPECT_EQ(walked.visited, ranks);
        EXPECT_EQ(tree.depth(), walked.depth);
        EXPECT_LE(tree.most_children(), 3u);
        for (Rank position = 1; position < ranks; ++position) {
          const auto distance = [&](Rank a, Rank b, std::uint32_t piece, std::uint32_t of) {
            return std::abs(static_cast<int>(a / piece % of) - static_cast<int>(b / piece % of));
          };
          const Rank parent = tree.parent(position);
          EXPECT_EQ(distance(position, parent, 1, row) + distance(position, parent, row, rows) +
                        distance(position, parent, row * rows, ranks),
                    1);
        }
        ASSERT_FALSE(testing::Test::HasFailure())
            << ranks << " positions, " << rows << " rows of " << row << " in a plane";
      }
    }
  }
}

TEST(Tree, HasTheSumsOfDepthsOfTheRequirement) {
  const auto sum = [](const Tree& tree) {
    Walked walked;
    walk(tree, 0, 0, walked);
    return walked.sum_of_depths;
  };
  EXPECT_EQ(sum(k_ary(2, 16)), 38u);
  EXPECT_EQ(sum(k_nomial(2, 64)), 192u);
  EXPECT_EQ(sum(k_ary(4, 256)), 912u);
  EXPECT_EQ(sum(k_nomial(8, 256)), 640u);
  EXPECT_EQ(sum(Tree::flat(256)), 255u);
}

TEST(Tree, OfTensOfThousandsOfPositionsIsConsistent) {
  for (const Tree& tree :
       {k_ary(3, 32'768), k_nomial(2, 32'768), k_nomial(7, 30'001), Tree::fork(65'536, 65'536, 30'001)}) {
    for (Rank position = 1; position < tree.ranks; position += 331)
      EXPECT_EQ(tree.child(tree.parent(position), tree.index_of(position)), position);
  }
}

}  // namespace
}  // namespace aqueduct::coll
