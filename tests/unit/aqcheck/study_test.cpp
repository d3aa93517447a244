#include "coll/algorithms/algorithms.hpp"
#include "tools/aqcheck/grid.hpp"
#include "tools/aqcheck/large.hpp"
#include "tools/aqcheck/study.hpp"
#include "tools/aqcheck/wrong_costs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqueduct::aqcheck {
namespace {

using coll::Operation;
using coll::Shape;
using coll::Step;
using coll::Sync;
using testing::HasSubstr;
using testing::StartsWith;

Case usual_case(Operation operation, const char* name, Rank ranks) {
  Case made{coll::find_algorithm(operation, name), {}, false};
  made.shape.operation = operation;
  made.shape.ranks = ranks;
  made.shape.bytes = made.shape.pitch = 64;
  made.shape.in = made.shape.out = Sync::none;
  made.shape.addresses = coll::Addresses::single;
  for (std::size_t i = 0; i < made.algorithm->parameters.size(); ++i)
    made.shape.parameters[i] = made.algorithm->parameters[i].usual;
  return made;
}

TEST(Study, HasEveryAlgorithm) {
  for (const coll::Algorithm* const algorithm : coll::all_algorithms())
    EXPECT_NE(find_in_study(*algorithm), nullptr) << name_of(algorithm->operation) << " " << algorithm->name;
}

// Where the study gives a limit, a difference has its reason beside it.
TEST(Study, SaysWhyALimitIsNotReached) {
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    const StudyEntry* const entry = find_in_study(*algorithm);
    ASSERT_NE(entry, nullptr);
    for_each_case(*algorithm, {.ranks = 11, .light = true}, [&](const Case& made) {
      const Studied said = studied(*entry, made.shape);
      if (made.shape.few_signals)
        return;  // a tree's root goes on before the others: no matter of the algorithm
      if (said.fewer_messages || said.less_depth) {
        EXPECT_STRNE(entry->differs, "") << describe(made);
      }
    });
  }
}

TEST(Study, KnowsTheCostsThatBooksPrint) {
  const auto said = [](const Case& made) { return studied(*find_in_study(*made.algorithm), made.shape); };
  const Studied ring = said(usual_case(Operation::all_gather, "ring", 8));
  EXPECT_EQ(ring.messages, 56u);
  EXPECT_EQ(ring.bytes, 56u * 64);
  EXPECT_EQ(ring.depth, 7u);
  const Studied halving = said(usual_case(Operation::all_reduce, "halving", 8));
  EXPECT_EQ(halving.messages, 48u);
  EXPECT_EQ(halving.bytes, 14u * 64);
  EXPECT_EQ(halving.depth, 6u);
  const Studied folded = said(usual_case(Operation::all_reduce, "multiplying", 6));
  EXPECT_EQ(folded.messages, 2u * 2 + 4 * 2);
  EXPECT_EQ(folded.depth, 2u + 2);
}

TEST(Study, ContradictsAnAlgorithmWhoseOwnFormulaRepeatsItsMistake) {
  const Case made = usual_case(Operation::all_gather, "ring", 4);
  coll::Algorithm wasteful = *made.algorithm;
  wasteful.cost = [](const Shape&) noexcept { return coll::Cost{13, 768, 3}; };
  EXPECT_THAT(wrong_costs({&wasteful, made.shape, false}, {13, 768, 3}),
              StartsWith("the study says 12 messages, 768 bytes, depth 3"));
  EXPECT_THAT(wrong_costs(made, {13, 768, 3}), StartsWith("the formula says 12 messages"));
  EXPECT_EQ(wrong_costs(made, {12, 768, 3}), "");
}

TEST(LargeCheck, AgreesWithTheWholeCheckOfSmallTeams) {
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    for (const Rank ranks : {1u, 2u, 6u, 8u, 13u}) {
      for_each_case(*algorithm, {.ranks = ranks, .light = true}, [&](const Case& made) {
        const Verdict whole = check(made);
        const Verdict light = check_large(made);
        EXPECT_EQ(light.problem, "") << describe(made);
        EXPECT_EQ(light.counted.messages, whole.counted.messages) << describe(made);
        EXPECT_EQ(light.counted.bytes, whole.counted.bytes) << describe(made);
        EXPECT_EQ(light.counted.depth, whole.counted.depth) << describe(made);
      });
    }
  }
}

/// What the light check says if step `at` of member 3 is changed.
template <class Changed>
std::string changed_ring(std::uint32_t at, Changed changed) {
  return check_large(usual_case(Operation::all_gather, "ring", 100),
                     [&](Rank position, std::uint32_t, std::uint32_t index, Step& step) {
                       if (position == 3 && index == at) changed(step);
                     })
      .problem;
}
TEST(LargeCheck, FindsWhatCountersAndLengthsShow) {
  EXPECT_EQ(changed_ring(2, [](Step&) {}), "");
  EXPECT_THAT(changed_ring(2, [](Step& step) { step.to.offset += 6400; }), HasSubstr("beyond the end"));
  EXPECT_THAT(changed_ring(2, [](Step& step) { step.raise = coll::kNoCounter; }),
              HasSubstr("tells the peer nothing"));
  EXPECT_THAT(changed_ring(2, [](Step& step) { ++step.add; }), HasSubstr("to which 2 is added in all"));
  EXPECT_THAT(changed_ring(2, [](Step& step) { step.bytes -= 1; }), HasSubstr("the formula says"));
}

}  // namespace
}  // namespace aqueduct::aqcheck
