// How the table cuts what does not fit into scratch, or into a message.

#include "tests/unit/coll/table_choices.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace aqueduct::coll::table_tests {
namespace {

// Two pieces fit into a bank, so that the second begins while the first is under way.
TEST(Table, CutsWhatDoesNotFitIntoPiecesThatOverlap) {
  const Shape shape = shape_of(Operation::broadcast, 16, 64 * kMebi);
  const ScratchLayout layout = usual_layout(16);
  const Choice choice = TableChooser().choose(shape, network(16), layout);
  ASSERT_NE(choice.algorithm, nullptr);
  EXPECT_EQ(choice.piece, layout.sizes().bytes / 2);
  EXPECT_EQ(choice.shape.bytes, shape.bytes);
  EXPECT_GT(choice.shape.parameters[0], 1u) << "segments of a piece";
}

TEST(Table, CutsWhatIsLongerThanAMessage) {
  TeamTraits team = network(8);
  team.most_transfer = 4096;
  const ScratchLayout layout = usual_layout(8);
  const Choice gather = TableChooser().choose(shape_of(Operation::all_gather, 8, 1024), team, layout);
  EXPECT_EQ(gather.piece, 512u) << "a message may carry the blocks of all members";
  const Choice direct = TableChooser().choose(single(shape_of(Operation::all_gather, 8, 1024)), team, layout);
  EXPECT_EQ(direct.piece, 1024u);
}

// No power of two is a multiple of it.
TEST(Table, DoesNotCutElementsThatAreCombined) {
  Shape shape = shape_of(Operation::all_reduce, 4, 24 * kMebi);
  shape.element = 24;
  const ScratchLayout layout = usual_layout(4);
  const Choice choice = TableChooser().choose(shape, network(4), layout);
  expect_runnable(choice, shape, layout);
  EXPECT_LT(choice.piece, shape.bytes);
}

TEST(Table, CutsLongElementsThatAreOnlyMoved) {
  Shape shape = shape_of(Operation::broadcast, 4, 2 * kMebi);
  shape.element = static_cast<std::uint32_t>(kMebi);
  const ScratchLayout layout = usual_layout(4);
  const Choice moved = TableChooser().choose(shape, network(4), layout);
  ASSERT_NE(moved.algorithm, nullptr);
  EXPECT_EQ(moved.shape.element, 1u);
  shape.operation = Operation::all_reduce;
  const Choice combined = TableChooser().choose(shape, network(4), layout);
  EXPECT_EQ(combined.algorithm, nullptr);
  EXPECT_NE(combined.why.find("AQUEDUCT_COLL_SCRATCH"), std::string_view::npos);
}

// A Bruck of radix 2 comes first in the table for such blocks, but would cut their elements.
TEST(Table, CutsElementsOnlyIfNoAlgorithmTakesThemWhole) {
  for (const Rank ranks : {20u, 50u, 64u}) {
    const Shape shape = shape_of(Operation::all_to_all, ranks, 64);
    const ScratchLayout least(least_scratch(ranks), ranks);
    const Choice choice = TableChooser().choose(shape, network(ranks), least);
    expect_runnable(choice, shape, least);
    EXPECT_EQ(choice.shape.element, kElement) << ranks << " members";
  }
}

TEST(Table, CutsElementsIntoTheLargestPieces) {
  const Shape shape = shape_of(Operation::all_to_all, 1000, 64);
  const ScratchLayout least(least_scratch(1000), 1000);
  const Choice choice = TableChooser().choose(shape, network(1000), least);
  expect_runnable(choice, shape, least);
  EXPECT_EQ(name_of(*choice.algorithm, choice.shape), "bruck:radix=64");
  EXPECT_EQ(choice.piece, 5u);
}

}  // namespace
}  // namespace aqueduct::coll::table_tests
