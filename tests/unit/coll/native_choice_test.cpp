// The team's conduit among the library's algorithms.

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/tune/coll_settings.hpp"
#include "coll/tune/native_choice.hpp"
#include "coll/tune/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace aqueduct::coll {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A conduit that does what it is told to, in a time that it is told.
class ToldTeam final : public core::NativeTeam {
 public:
  const char* refusal(const core::NativeShape& shape) const noexcept override {
    if (shape.bytes == 0) return "a conduit is not asked for nothing";
    if (shape.in == Sync::none) return "it waits for all members";
    return shape.bytes > most ? "too long" : nullptr;
  }
  std::uint64_t cost(const core::NativeShape&) const noexcept override { return nanoseconds; }
  Pace pace() const noexcept override { return its_pace; }
  core::Post start(const core::NativeCall&, core::Token) noexcept override {
    return core::Post::failed(ErrorCode::internal);
  }
  void cancel(std::uint64_t) noexcept override {}

  std::uint64_t most = 1 << 20;
  std::uint64_t nanoseconds = 100;
  Pace its_pace;
};

Shape shape_for_conduit(Operation operation, std::uint64_t bytes, Sync sync = Sync::all) {
  Shape shape;
  shape.operation = operation;
  shape.in = shape.out = sync;
  shape.ranks = 8;
  shape.element = 8;
  shape.bytes = shape.pitch = bytes;
  return shape;
}

class NativeChoice : public testing::Test {
 protected:
  Choice choose(const Shape& shape, const TableChooser& chooser = TableChooser()) const {
    return chooser.choose(shape, team_, layout_);
  }
  bool takes(const Shape& shape) const {
    const Choice choice = choose(shape);
    return choice.algorithm != nullptr && choice.algorithm->native;
  }
  std::string explain(const Shape& shape, const TableChooser& chooser = TableChooser()) const {
    return chooser.explain(shape, team_, layout_);
  }

  ToldTeam conduit_;
  TeamTraits team_{.ranks = 8, .one_host = false, .mapped = false, .native = &conduit_};
  ScratchLayout layout_{ScratchSizes(), 8};
};

TEST_F(NativeChoice, FallsOnTheConduitIfThatIsFaster) {
  for (const Algorithm& native : native_algorithms()) {
    const Shape shape = shape_for_conduit(native.operation, 64);
    conduit_.nanoseconds = 100;
    const Choice fast = choose(shape);
    ASSERT_EQ(fast.algorithm, &native);
    EXPECT_EQ(fast.piece, 64u);
    conduit_.nanoseconds = 1'000'000'000;
    const Choice slow = choose(shape);
    ASSERT_NE(slow.algorithm, nullptr);
    EXPECT_FALSE(slow.algorithm->native);
    // The choice changes where the estimates are equal.
    conduit_.nanoseconds = 0;
    const Choice around{.algorithm = &native, .shape = shape, .piece = 64, .why = {}};
    conduit_.nanoseconds = expected_time(slow, team_) - expected_time(around, team_);
    EXPECT_FALSE(takes(shape));
    --conduit_.nanoseconds;
    EXPECT_TRUE(takes(shape));
  }
}

TEST_F(NativeChoice, SkipsWhatTheConduitRefuses) {
  EXPECT_TRUE(takes(shape_for_conduit(Operation::broadcast, 64, Sync::mine)));
  EXPECT_FALSE(takes(shape_for_conduit(Operation::broadcast, 64, Sync::none)));
  conduit_.most = 63;
  EXPECT_FALSE(takes(shape_for_conduit(Operation::broadcast, 64)));
  team_.native = nullptr;
  EXPECT_FALSE(takes(shape_for_conduit(Operation::broadcast, 8)));
}

// Nothing would show that members have made different calls.
TEST_F(NativeChoice, LeavesOperationsWithoutBytesToTheLibrary) {
  EXPECT_FALSE(takes(shape_for_conduit(Operation::all_gather, 0)));
}

TEST_F(NativeChoice, LeavesBarriersAndBlocksThatDifferToTheLibrary) {
  EXPECT_EQ(native_algorithm(Operation::barrier), nullptr);
  for (auto operation = Operation::permute; operation <= Operation::all_to_all_v;
       operation = static_cast<Operation>(static_cast<int>(operation) + 1))
    EXPECT_EQ(native_algorithm(operation), nullptr);
  const auto settings = algorithm_settings();
  EXPECT_EQ(native_algorithms().size(),
            static_cast<std::size_t>(std::ranges::count_if(settings, [](const SettingInfo& info) {
              return !has_counts(operation_of(info)) && operation_of(info) != Operation::barrier;
            })));
}

TEST_F(NativeChoice, CanBeForced) {
  ForcedAlgorithms forced{};
  const ForcedRead read = read_forced(Operation::broadcast, "native");
  ASSERT_EQ(read.problem, "");
  ASSERT_EQ(read.forced.algorithm, native_algorithm(Operation::broadcast));
  EXPECT_NE(read_forced(Operation::broadcast, "native:2").problem, "") << "it has no parameters";
  forced[static_cast<std::size_t>(Operation::broadcast)] = read.forced;
  const TableChooser chooser(forced);
  conduit_.nanoseconds = 1'000'000'000;
  for (const std::uint64_t bytes : {0u, 64u}) {
    const Choice choice = choose(shape_for_conduit(Operation::broadcast, bytes), chooser);
    EXPECT_EQ(choice.algorithm, read.forced.algorithm) << bytes << " bytes: " << choice.why;
  }
  conduit_.most = 63;
  const Choice longer = choose(shape_for_conduit(Operation::broadcast, 64), chooser);
  EXPECT_EQ(longer.algorithm, nullptr);
  EXPECT_THAT(std::string(longer.why), HasSubstr("native for broadcast, which cannot do it: too long"));
  team_.native = nullptr;
  const Choice nobody = choose(shape_for_conduit(Operation::broadcast, 8), chooser);
  EXPECT_EQ(nobody.algorithm, nullptr);
  EXPECT_THAT(std::string(nobody.why), HasSubstr("the team's conduit does not offer it"));
}

TEST_F(NativeChoice, IsExplained) {
  const Shape shape = shape_for_conduit(Operation::all_reduce, 64);
  EXPECT_THAT(explain(shape), HasSubstr("\n  native\n  by the conduit, in one piece, in about "));
  conduit_.nanoseconds = 1'000'000'000;
  EXPECT_THAT(explain(shape), HasSubstr("\n  not native: it could, but in about 1000"));
  conduit_.most = 8;
  EXPECT_THAT(explain(shape), HasSubstr("\n  not native: too long\n"));
  EXPECT_THAT(explain(shape_for_conduit(Operation::all_reduce, 0)),
              HasSubstr("not native: there is nothing"));
  team_.native = nullptr;
  EXPECT_THAT(explain(shape), Not(HasSubstr("native")));
}

TEST_F(NativeChoice, IsNotMisledByEstimatesBeyondAllBounds) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  conduit_.nanoseconds = kMost;
  EXPECT_FALSE(takes(shape_for_conduit(Operation::all_reduce, 64)));
  conduit_.its_pace = {kMost, kMost, kMost};
  EXPECT_FALSE(takes(shape_for_conduit(Operation::all_reduce, 64)))
      << "both take for ever: the table's stays";
}

// One step hands the operation over, one waits for its end; passes are around them, with counters of their own.
TEST_F(NativeChoice, HasAScheduleWithThePassesOfItsModes) {
  for (const Algorithm& native : native_algorithms()) {
    for (const Sync sync : {Sync::none, Sync::mine, Sync::all}) {
      for (const std::uint64_t bytes : {0u, 64u}) {
        const Shape shape = shape_for_conduit(native.operation, bytes, sync);
        const Needs needs = Schedule::needs(native, shape);
        EXPECT_EQ(needs.scratch + needs.temp, 0u);
        bool signals = false;
        for (Rank position = 0; position < shape.ranks; ++position) {
          const Schedule schedule(native, shape, position);
          ASSERT_EQ(schedule.lanes(), 1u);
          std::uint32_t handed = 0;
          for (std::uint32_t i = 0; i < schedule.length(0); ++i) {
            const Step step = schedule.step(0, i);
            signals = signals || step.kind == Step::Kind::signal;
            if (step.raise != kNoCounter) {
              EXPECT_LT(step.raise, needs.counters);
              EXPECT_NE(step.raise, 0u) << "that is the conduit's";
            }
            if (step.kind != Step::Kind::native) continue;
            ++handed;
            const Step next = schedule.step(0, i + 1);
            EXPECT_EQ(next.wait_for, step.done);
            EXPECT_EQ(next.wait_until, 1u);
          }
          EXPECT_EQ(handed, bytes == 0 ? 0u : 1u);
        }
        EXPECT_EQ(signals, sync == Sync::all);
      }
    }
  }
}

}  // namespace
}  // namespace aqueduct::coll
