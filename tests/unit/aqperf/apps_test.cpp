// The small applications of aqperf (requirements HB-06, HB-07): that they compute what they should, and what they make of times.

#include "tools/aqperf/apps/app_times.hpp"
#include "tools/aqperf/apps/dense_matrix.hpp"
#include "tools/aqperf/apps/space_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace aqueduct::perf {
namespace {

TEST(AppTimes, AreMeansOverRanks) {
  const std::vector<std::vector<AppTurn>> of_ranks{{{10, 100}, {20, 100}}, {{30, 200}, {40, 300}}};
  const auto turns = mean_over_ranks(of_ranks);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_DOUBLE_EQ(turns[0].collective, 20);
  EXPECT_DOUBLE_EQ(turns[0].total, 150);
  EXPECT_DOUBLE_EQ(turns[1].collective, 30);
  EXPECT_DOUBLE_EQ(turns[1].total, 200);
}

// The share is one of all time, so that long turns count for more.
TEST(AppTimes, ShareAllTimeBetweenCallsAndWork) {
  const std::vector<AppTurn> turns{{10, 100}, {10, 100}, {580, 1800}};
  const AppShares shares = shares_of(turns);
  EXPECT_DOUBLE_EQ(shares.share, 0.3);
  EXPECT_DOUBLE_EQ(shares.total_median, 100);
  EXPECT_EQ(shares_of({}).share, 0);
}

TEST(DenseMatrix, ProductsOfAllColumnsAddUpToThatOfTheMatrix) {
  for (const std::size_t rows : {1u, 5u, 12u}) {
    for (const std::size_t ranks : {1u, 2u, 3u, 5u, 7u}) {
      SCOPED_TRACE(testing::Message() << rows << " rows, " << ranks << " ranks");
      const DenseMatrix matrix(rows, ranks);
      EXPECT_GE(matrix.columns() * ranks, rows);
      const auto all = matrix.blocks(ranks);
      ASSERT_EQ(all.size(), ranks * matrix.block());
      std::vector<double> vector(rows), partial(rows), sum(rows);
      for (std::size_t i = 0; i < rows; ++i) vector[i] = DenseMatrix::input(i, 3);
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        matrix.multiply(std::span(all).subspan(rank * matrix.block(), matrix.block()), vector, rank, partial);
        for (std::size_t i = 0; i < rows; ++i) sum[i] += partial[i];
      }
      for (std::size_t i = 0; i < rows; ++i) EXPECT_EQ(sum[i], matrix.expected(i, 3)) << "row " << i;
    }
  }
}

struct Built {
  std::vector<std::size_t> lengths;  ///< of the vectors that are added up
  std::uint64_t bodies = 0;
  std::uint64_t dearest = 0;

  friend bool operator==(const Built&, const Built&) = default;
};

/// Builds the trees of all ranks, whose costs are added up here.
Built built(std::uint64_t bodies, std::size_t ranks, std::uint64_t limit) {
  std::vector<SpaceTree> trees;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    std::vector<Place> mine;
    for (std::uint64_t i = rank; i < bodies; i += ranks) mine.push_back(body(i));
    trees.emplace_back(std::move(mine), limit);
  }
  Built out;
  while (!trees[0].costs().empty()) {
    std::vector<std::uint64_t> sum(trees[0].costs().size());
    out.lengths.push_back(sum.size());
    for (SpaceTree& tree : trees) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += tree.costs()[i];
    }
    for (SpaceTree& tree : trees) {
      std::copy(sum.begin(), sum.end(), tree.costs().begin());
      tree.next_round();
    }
  }
  out.bodies = trees[0].cost_of_leaves();
  out.dearest = trees[0].dearest_leaf();
  return out;
}

TEST(SpaceTree, IsTheSameHoweverManyRanksBuildIt) {
  const Built alone = built(5000, 1, 20);
  EXPECT_EQ(alone.bodies, 5000u) << "each body is in one cube";
  EXPECT_LE(alone.dearest, 20u);
  ASSERT_GT(alone.lengths.size(), 4u) << "the middle of the sphere is dense";
  EXPECT_EQ(alone.lengths[0], 1u);
  EXPECT_EQ(alone.lengths[1], 8u);
  // Lengths rise and then fall again.
  const std::size_t most = *std::max_element(alone.lengths.begin(), alone.lengths.end());
  EXPECT_GT(most, alone.lengths.back());
  for (const std::size_t length : alone.lengths) EXPECT_TRUE(length == 1 || length % 8 == 0) << length;
  for (const std::size_t ranks : {2u, 3u, 8u}) EXPECT_EQ(built(5000, ranks, 20), alone) << ranks;
}

TEST(SpaceTree, EndsThoughBodiesAreAtTheSamePlace) {
  SpaceTree tree(std::vector<Place>(10, Place{1, 2, 3}), 1);
  int rounds = 0;
  for (; !tree.costs().empty() && rounds < 100; ++rounds) tree.next_round();
  EXPECT_EQ(rounds, 24);
  EXPECT_EQ(tree.cost_of_leaves(), 10u);
  EXPECT_EQ(tree.dearest_leaf(), 10u);
}

TEST(SpaceTree, HasNothingToDivideWithoutBodies) {
  SpaceTree tree({}, 1);
  ASSERT_EQ(tree.costs().size(), 1u);
  EXPECT_EQ(tree.costs()[0], 0u);
  tree.next_round();
  EXPECT_TRUE(tree.costs().empty());
}

TEST(SpaceTree, BodiesAreInsideOfSpaceAndMostOfThemNearItsMiddle) {
  int near = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    double square = 0;
    for (const double at : body(i)) {
      EXPECT_LE(std::abs(at), kSpace);
      square += at * at;
    }
    near += square < 2 ? 1 : 0;
  }
  // Of a Plummer sphere 54 % are within the square root of 2; the bodies are always the same.
  EXPECT_GT(near, 450);
  EXPECT_LT(near, 650);
}

}  // namespace
}  // namespace aqueduct::perf
