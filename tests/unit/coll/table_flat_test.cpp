// Scatters and gathers in shared memory, requirement N-74: flat ones and trees are in the index, and flat ones are chosen.

#include "tests/unit/coll/table_choices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace aqueduct::coll::table_tests {
namespace {

constexpr std::initializer_list<Operation> kScatterAndGather{Operation::scatter, Operation::gather};

TEST(FlatScatterAndGather, AreInTheIndexBesideTrees) {
  for (const Operation operation : kScatterAndGather) {
    for (const BoardMethod method : {BoardMethod::flat, BoardMethod::mapped, BoardMethod::stream})
      EXPECT_NE(board_algorithm(operation, method), nullptr);
    const auto all = all_algorithms();
    EXPECT_TRUE(std::ranges::any_of(
        all, [&](const Algorithm* one) { return one->operation == operation && one->name == "k-nomial"; }));
    EXPECT_TRUE(std::ranges::any_of(
        all, [&](const Algorithm* one) { return one->operation == operation && one->name == "direct"; }));
  }
}

/// A team that shares memory, as the rules see it.
struct SharingTeam {
  Rank ranks;
  bool crowded;
  std::uint32_t bulk;  ///< of a slot for long blocks
  std::uint32_t domains;

  TeamTraits traits() const {
    return {.ranks = ranks,
            .crowded = crowded,
            .board = {.slots = kMostSlots, .narrow = kMostNarrow, .bulk = bulk},
            .domains = {.count = domains, .smallest = ranks / domains, .largest = ranks - ranks / domains}};
  }
};

// Whatever the size, the sync modes and the domains of memory: the root and each member share one step.
TEST(FlatScatterAndGather, AreChosenAtAllSizes) {
  for (const Operation operation : kScatterAndGather) {
    for (const Rank ranks : {2u, 3u, 4u, 8u, 9u, 16u, 17u, 64u}) {
      for (const SharingTeam& one : {SharingTeam{ranks, false, 32768, 1},
                                     {ranks, true, 32768, 1},
                                     {ranks, false, 262144, 1},
                                     {ranks, false, 32768, 2}}) {
        const TeamTraits team = one.traits();
        for (Shape shape : all_modes(operation)) {
          shape.ranks = ranks;
          shape.element = kElement;
          for (std::uint64_t bytes = kElement; bytes <= 4 * kMebi; bytes *= 2) {
            shape.bytes = shape.pitch = bytes;
            const Choice choice = TableChooser().choose(shape, team, usual_layout(ranks));
            ASSERT_NE(choice.algorithm, nullptr) << choice.why;
            const BoardMethod method = choice.algorithm->board;
            EXPECT_TRUE(method == BoardMethod::flat || method == BoardMethod::mapped ||
                        method == BoardMethod::stream)
                << name_of(*choice.algorithm, choice.shape) << " of " << bytes << " bytes, " << ranks
                << " members" << (one.crowded ? ", which share processors" : "");
            // Each block goes from its owner to its taker, with no member between, and no wait but that for the buffers.
            const Cost cost = choice.algorithm->cost(choice.shape);
            EXPECT_LE(cost.depth, 2u);
            EXPECT_LE(cost.messages, 2 * (std::uint64_t{ranks} - 1));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace aqueduct::coll::table_tests
