#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "tools/aqcheck/check.hpp"
#include "tools/aqcheck/grid.hpp"
#include "tools/aqcheck/large.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aqueduct::aqcheck {
namespace {

using coll::Operation;
using coll::Shape;
using coll::Space;
using coll::Step;
using coll::Sync;
using testing::HasSubstr;

TEST(Check, FindsEveryAlgorithmRightInTeamsOfUpToNine) {
  std::uint64_t cases = 0;
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    for (Rank ranks = 1; ranks <= 9; ++ranks) {
      for_each_case(*algorithm, {.ranks = ranks, .all_roots = ranks <= 5}, [&](const Case& made) {
        ++cases;
        EXPECT_EQ(check(made).problem, "") << describe(made);
      });
    }
  }
  EXPECT_GT(cases, 20'000u);
}

TEST(Check, OfRootZeroStandsForAllRoots) {
  for (const coll::Algorithm* const algorithm : coll::all_algorithms()) {
    // Of one that goes by hosts or by a tree of the team all roots are checked.
    if (algorithm->operation != Operation::broadcast || algorithm->hosts || algorithm->team_tree) continue;
    for (const Rank ranks : {2u, 7u, 16u, 31u}) {
      for_each_case(*algorithm, {.ranks = ranks, .all_roots = true, .every_size = false},
                    [&](const Case& made) {
                      EXPECT_TRUE(shifts_with_the_root(*algorithm, made.shape)) << describe(made);
                    });
    }
  }
}

/// An algorithm in which two members do what the test wants.
template <class Steps>
struct Two {
  static inline Steps steps;
  static coll::Algorithm made(Operation operation) {
    return {
        .name = "made up",
        .operation = operation,
        .parameters = {},
        .direct = true,
        .refusal = coll::no_refusal,
        .needs = [](const Shape&) noexcept { return coll::Needs{.scratch = 8, .temp = 8, .counters = 4}; },
        .lanes = coll::one_lane,
        .length =
            [](const Shape&, Rank position, std::uint32_t) noexcept {
              return static_cast<std::uint32_t>(Steps::of(position).size());
            },
        .step = [](const Shape&, Rank position, std::uint32_t,
                   std::uint32_t index) noexcept { return Steps::of(position)[index]; },
        .cost =
            [](const Shape&) noexcept {
              return coll::Cost{1, 4, 1};
            }};
  }
};

Shape broadcast_of_four_bytes() {
  Shape shape;
  shape.operation = Operation::broadcast;
  shape.in = Sync::none;
  shape.out = Sync::mine;
  shape.addresses = coll::Addresses::single;
  shape.ranks = 2;
  shape.bytes = shape.pitch = 4;
  return shape;
}
template <class Steps>
std::string problem_of(const Shape& shape) {
  const coll::Algorithm algorithm = Two<Steps>::made(shape.operation);
  return check({&algorithm, shape, false}).problem;
}

const Step kOwnCopy = coll::copy_of(coll::at(Space::in, 0), coll::at(Space::out, 0), 4);
const Step kPut = coll::put_to(1, coll::at(Space::in, 0), coll::at(Space::out, 0), 4, 0);

struct Right {
  static std::vector<Step> of(Rank position) {
    return position == 0 ? std::vector{kPut, kOwnCopy} : std::vector{coll::wait_only(0, 1)};
  }
};
TEST(Check, AcceptsAPutAndItsWait) { EXPECT_EQ(problem_of<Right>(broadcast_of_four_bytes()), ""); }

TEST(Check, KnowsThatAMembersBuffersAreItsOwnBeforeItsCall) {
  Shape shape = broadcast_of_four_bytes();
  shape.in = Sync::mine;
  EXPECT_THAT(problem_of<Right>(shape), HasSubstr("before it is known that member 1 has called"));
}

TEST(Check, CountsWhatTheFormulaSays) {
  Shape shape = broadcast_of_four_bytes();
  shape.bytes = shape.pitch = 0;
  EXPECT_THAT(problem_of<Right>(shape), HasSubstr("there is no such byte"));
}

struct Unwaited {
  static std::vector<Step> of(Rank position) {
    return position == 0 ? std::vector{kPut, kOwnCopy} : std::vector<Step>{};
  }
};
TEST(Check, WantsEveryArrivalToBeWaitedFor) {
  EXPECT_THAT(problem_of<Unwaited>(broadcast_of_four_bytes()),
              HasSubstr("nobody at member 1 waits for counter 0"));
}

struct Inexact {
  static std::vector<Step> of(Rank position) {
    if (position == 0) {
      return {coll::put_to(1, coll::at(Space::in, 0), coll::at(Space::out, 0), 2, 0),
              coll::put_to(1, coll::at(Space::in, 2), coll::at(Space::out, 2), 2, 0), kOwnCopy};
    }
    return {coll::wait_only(0, 1), coll::wait_only(0, 2)};
  }
};
TEST(Check, RefusesAWaitThatDoesNotSayWhichPutHasArrived) {
  EXPECT_THAT(problem_of<Inexact>(broadcast_of_four_bytes()),
              HasSubstr("waits for 1 on counter 0, to which 2"));
}

/// Adds 0xffff and `More` to a counter of member 1.
template <int More>
struct Counting {
  static std::vector<Step> of(Rank position) {
    constexpr std::uint32_t kAll = 0xffff + More;
    if (position == 1) return {coll::wait_only(0, kAll)};
    Step put = kPut;
    put.add = 0xffff;
    if (More == 0) return {put, kOwnCopy};
    Step signal = coll::signal_to(1, 0);
    signal.add = More;
    return {put, signal, kOwnCopy};
  }
};
// The simulator counts in 32 bits, and would take it.
TEST(Check, RefusesMoreArrivalsThanACounterCounts) {
  const Shape shape = broadcast_of_four_bytes();
  EXPECT_EQ(problem_of<Counting<0>>(shape), "");
  EXPECT_THAT(
      problem_of<Counting<1>>(shape),
      HasSubstr(
          "65536 is added in all to counter 0 of member 1, and a counter of the engine counts to 65535"));
  const coll::Algorithm algorithm = Two<Counting<1>>::made(shape.operation);
  EXPECT_THAT(check_large({&algorithm, shape, false}).problem,
              HasSubstr("65536 is added in all to counter 0"));
}

struct Deadlock {
  static std::vector<Step> of(Rank position) { return {coll::after(coll::signal_to(1 - position, 0), 0, 1)}; }
};
TEST(Check, FindsADeadlock) {
  EXPECT_THAT(problem_of<Deadlock>(broadcast_of_four_bytes()), HasSubstr("deadlock"));
}

struct Racing {
  static std::vector<Step> of(Rank position) {
    if (position == 0) return {kPut, kOwnCopy};
    // It writes to its output while the put is under way.
    return {coll::copy_of(coll::at(Space::out, 0), coll::at(Space::temp, 0), 4), coll::wait_only(0, 1)};
  }
};
TEST(Check, FindsAnAccessThatNothingOrders) {
  EXPECT_THAT(problem_of<Racing>(broadcast_of_four_bytes()), HasSubstr("it may still be written"));
}

struct Early {
  static std::vector<Step> of(Rank position) {
    if (position == 0) return {coll::after(kPut, 1, 1), kOwnCopy};
    Step tell;
    tell.kind = Step::Kind::tell;
    return {coll::signal_to(0, 1), tell, coll::wait_only(0, 1)};
  }
};
TEST(Check, FindsAMemberThatReturnsTooEarly) {
  EXPECT_THAT(problem_of<Early>(broadcast_of_four_bytes()), HasSubstr("member 1 returns while a buffer"));
  Shape loose = broadcast_of_four_bytes();
  loose.out = Sync::none;
  EXPECT_THAT(problem_of<Early>(loose), HasSubstr("the formula says")) << "legal, but it has a message more";
}

}  // namespace
}  // namespace aqueduct::aqcheck
