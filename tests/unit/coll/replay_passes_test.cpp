#include "coll/algorithms/steps.hpp"
#include "coll/model/brief.hpp"
#include "coll/model/replay.hpp"

#include <gtest/gtest.h>

namespace aqueduct::coll {
namespace {

TEST(ReplayPasses, RoundsAreTheStepsOfThePass) {
  for (Rank ranks = 2; ranks <= 40; ++ranks) {
    const Pass pass{.kind = Pass::Kind::everybody, .ranks = ranks, .first = 7};
    ASSERT_TRUE(pass.is_plain());
    for (Rank member = 0; member < ranks; ++member) {
      for (std::uint32_t i = 0; i < pass.length(member); ++i)
        EXPECT_EQ(brief_of_round(pass, member, i), brief_of(pass.step(member, i)))
            << "member " << member << " of " << ranks << ", step " << i;
    }
  }
  EXPECT_FALSE((Pass{.kind = Pass::Kind::everybody, .ranks = 1}.is_plain()));
  EXPECT_FALSE((Pass{.kind = Pass::Kind::everybody, .ranks = 9, .few_signals = true}.is_plain()));
  EXPECT_FALSE((Pass{.kind = Pass::Kind::to_root, .ranks = 9}.is_plain()));
}

/// A watcher keeps members from running ahead.
class IdleWatcher : public Watcher {
 public:
  void busy(Rank, What, Picoseconds, Picoseconds, Rank, std::uint64_t) override {}
  void message(Rank, Rank, std::uint64_t, Picoseconds, Picoseconds) override {}
};

constexpr Rank kGetter = 2;
constexpr Rank kOwner = 7;

/// Only one member gets, from one that is in the pass behind by then.
const Algorithm kOneGets{
    .name = "one-gets",
    .operation = Operation::broadcast,
    .parameters = {},
    .refusal = no_refusal,
    .needs = [](const Shape&) noexcept { return Needs{.scratch = 64, .counters = 2}; },
    .lanes = one_lane,
    .length = [](const Shape&, Rank position, std::uint32_t) noexcept -> std::uint32_t {
      return position == kGetter ? 3 : 0;
    },
    .step =
        [](const Shape&, Rank, std::uint32_t, std::uint32_t index) noexcept {
          if (index == 0) return signal_to(kOwner, 0);
          if (index == 2) return wait_only(1, 1);
          Step step;
          step.kind = Step::Kind::get;
          step.peer = kOwner;
          step.from = at(Space::scratch, 0);
          step.to = at(Space::scratch, 0);
          step.bytes = 8;
          step.done = 1;
          return step;
        },
    .cost = [](const Shape&) noexcept { return Cost{}; },
};

// The request is in place at the owner at 13 us, and the owner hands over its second signal at 15 us, for which it has been
// busy since 10 us. The answer goes first.
TEST(ReplayPasses, NobodyRunsAheadOfAnAnswer) {
  Machine machine;
  machine.levels = {{1, {.latency = 2'000'000, .overhead = 5'000'000, .gap = 3'000'000}}};
  Shape shape;
  shape.operation = Operation::broadcast;
  shape.in = Sync::none;
  shape.out = Sync::all;
  shape.ranks = 9;
  shape.bytes = shape.pitch = 8;
  const Replayed free = replay(kOneGets, shape, machine);
  IdleWatcher watcher;
  ReplayOptions options;
  options.watcher = &watcher;
  const Replayed watched = replay(kOneGets, shape, machine, options);
  ASSERT_EQ(free.problem, "");
  ASSERT_EQ(watched.problem, "");
  EXPECT_EQ(free.time, watched.time);
  for (Rank member = 0; member < shape.ranks; ++member) {
    EXPECT_EQ(free.members[member].ended, watched.members[member].ended) << member;
    EXPECT_EQ(free.members[member].drained, watched.members[member].drained) << member;
    EXPECT_EQ(free.members[member].busy, watched.members[member].busy) << member;
  }
}

}  // namespace
}  // namespace aqueduct::coll
