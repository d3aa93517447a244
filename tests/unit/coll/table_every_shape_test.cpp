// The table of algorithms has an answer for whatever may be asked for.

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/rules.hpp"
#include "tests/unit/coll/table_choices.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::coll::table_tests {
namespace {

class TableForAll : public testing::TestWithParam<Operation> {};

TEST_P(TableForAll, HasAnAlgorithmForEverything) {
  const TableChooser table;
  std::vector<Rank> sizes_of_teams;
  for (Rank ranks = 1; ranks <= 17; ++ranks) sizes_of_teams.push_back(ranks);
  sizes_of_teams.insert(sizes_of_teams.end(), {64, 100, 1000});
  std::vector<std::uint64_t> sizes{0};
  if (GetParam() != Operation::barrier) sizes = {0, 8, 24, 1024, 65'536, kMebi, 64 * kMebi};
  const std::vector<Shape> modes = all_modes(GetParam());
  for (const Rank ranks : sizes_of_teams) {
    for (const ScratchSizes& scratch : {ScratchSizes(), least_scratch(ranks)}) {
      const ScratchLayout layout(scratch, ranks);
      for (Shape shape : modes) {
        shape.ranks = ranks;
        shape.root = ranks - 1;
        shape.element = GetParam() == Operation::barrier ? 1 : kElement;
        for (const std::uint64_t bytes : sizes) {
          shape.bytes = shape.pitch = bytes;
          expect_runnable(table.choose(shape, {.ranks = ranks}, layout), shape, layout);
          if (HasFailure()) {
            FAIL() << operation_word(GetParam()) << " of " << bytes << " bytes, " << ranks << " members";
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, TableForAll,
                         testing::Values(Operation::barrier, Operation::broadcast, Operation::scatter,
                                         Operation::gather, Operation::all_gather, Operation::all_to_all,
                                         Operation::reduce, Operation::all_reduce, Operation::reduce_scatter,
                                         Operation::scan, Operation::exscan, Operation::permute,
                                         Operation::scatter_v, Operation::gather_v, Operation::all_gather_v,
                                         Operation::all_to_all_v),
                         [](const auto& one) { return std::string(operation_word(one.param)); });

// The longest element that the least scratch is made for, one at a time; an all-to-all may cut it.
TEST(Table, MovesLongElementsThroughTheLeastScratch) {
  for (const Rank ranks : {2u, 3u, 5u, 17u, 64u, 100u, 1000u, 5000u}) {
    const ScratchLayout layout(least_scratch(ranks), ranks);
    for (const Operation operation :
         {Operation::broadcast, Operation::scatter, Operation::gather, Operation::all_gather,
          Operation::all_to_all, Operation::reduce, Operation::all_reduce, Operation::reduce_scatter,
          Operation::scan, Operation::exscan}) {
      for (Shape shape : all_modes(operation)) {
        shape.ranks = ranks;
        shape.element = 16;
        shape.bytes = shape.pitch = 160;
        expect_runnable(TableChooser().choose(shape, {.ranks = ranks}, layout), shape, layout);
        if (HasFailure()) FAIL() << operation_word(operation) << ", " << ranks << " members";
      }
    }
  }
}

TEST(Table, HasRulesWhoseAlgorithmsAreOfTheOperation) {
  for (std::size_t i = 0; i < ForcedAlgorithms().size(); ++i) {
    const auto operation = static_cast<Operation>(i);
    const bool one_algorithm = operation == Operation::permute || operation == Operation::scatter_v ||
                               operation == Operation::gather_v;
    EXPECT_EQ(rules_of(operation).empty(), one_algorithm);
    for (const Rule& rule : rules_of(operation)) EXPECT_EQ(rule.algorithm->operation, operation);
  }
}

TEST(Table, AnswersAlikeOnAllMembers) {
  const Shape shape = shape_of(Operation::all_to_all, 100, 4096);
  const Choice one = TableChooser().choose(shape, network(100), usual_layout(100));
  const Choice other = TableChooser().choose(shape, network(100), usual_layout(100));
  EXPECT_EQ(one.algorithm, other.algorithm);
  EXPECT_EQ(one.shape, other.shape);
  EXPECT_EQ(one.piece, other.piece);
}

}  // namespace
}  // namespace aqueduct::coll::table_tests
