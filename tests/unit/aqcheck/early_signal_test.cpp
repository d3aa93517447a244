// The rule that takes a harmless mistake out of the list, beside the checker itself.

#include "coll/algorithms/algorithms.hpp"
#include "tools/aqcheck/check.hpp"
#include "tools/aqcheck/early_signal.hpp"
#include "tools/aqcheck/grid.hpp"
#include "tools/aqcheck/mutations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace aqueduct::aqcheck {
namespace {

/// Each signal that waits and has another one of the same round behind it, with that wait moved to the second.
/// Calls `each(whether the rule says harmless, whether the checker does, the case)`.
template <class Each>
void for_each_early_signal(const coll::Algorithm& algorithm, Rank ranks, const Each& each) {
  const auto look = [&](const Case& made, const coll::Dissemination& among, Rank number, Rank position) {
    const coll::Schedule schedule(*made.algorithm, made.shape_of(position), position);
    for (std::uint32_t at = 0; at + 1 < among.hops(); ++at) {
      const coll::Dissemination::Hop hop = among.hop(at);
      coll::Step early = schedule.step(0, at);
      coll::Step second = schedule.step(0, at + 1);
      if (hop.number != 0 || among.hop(at + 1).number == 0 || early.wait_for == coll::kNoCounter) continue;
      second.wait_for = std::exchange(early.wait_for, coll::kNoCounter);
      second.wait_until = early.wait_until;
      const auto change = [&](Rank of, std::uint32_t, std::uint32_t index, coll::Step& step) {
        if (of == position && index == at) step = early;
        if (of == position && index == at + 1) step = second;
      };
      each(early_signal_is_harmless(among, number, hop.round), check(made, change).problem.empty(), made);
    }
  };
  const Grid grid{.ranks = ranks, .all_roots = false, .every_size = false};
  for_each_case(algorithm, grid, [&](const Case& made) {
    const coll::Groups* const groups = algorithm.hosts ? &*made.shape.groups.of : nullptr;
    const coll::Dissemination among{groups != nullptr ? groups->count() : ranks, made.shape.parameters[0]};
    for (Rank number = 0; number < among.ranks; ++number)
      look(made, among, number, groups != nullptr ? groups->leader_of(number) : number);
  });
}

TEST(EarlySignal, IsHarmlessIfAndOnlyIfTheCheckerFindsNothing) {
  for (const coll::Algorithm* const algorithm : {&coll::kBarrierHosts, &coll::kBarrierDissemination}) {
    std::size_t harmless = 0;
    std::size_t harmful = 0;
    for (Rank ranks = 2; ranks <= 14; ++ranks) {
      for_each_early_signal(*algorithm, ranks, [&](bool rule, bool checker, const Case& made) {
        EXPECT_EQ(rule, checker) << describe(made);
        ++(checker ? harmless : harmful);
      });
    }
    EXPECT_GT(harmless, 0u) << algorithm->name;
    EXPECT_GT(harmful, 0u) << algorithm->name;
  }
}

// Four hosts and radix 3: what goes from a leader to the next one also goes there by way of the one after that.
TEST(EarlySignal, OfRadixThreeHasASecondWayAmongFourHosts) {
  EXPECT_TRUE(early_signal_is_harmless({4, 3}, 0, 0));
  EXPECT_FALSE(early_signal_is_harmless({3, 3}, 0, 0));
  EXPECT_FALSE(early_signal_is_harmless({4, 2}, 0, 0));
}

TEST(EarlySignal, LeavesNoMistakeOfBarriersUnexplained) {
  const auto all_are_found = [](const coll::Algorithm& algorithm, Rank ranks) {
    for_each_case(algorithm, {.ranks = ranks, .all_roots = false, .every_size = false},
                  [](const Case& made) { EXPECT_THAT(mutate(made).survivors, testing::IsEmpty()); });
  };
  all_are_found(coll::kBarrierHosts, 7);
  all_are_found(coll::kBarrierDissemination, 10);
}

}  // namespace
}  // namespace aqueduct::aqcheck
