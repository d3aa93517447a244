#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/model/replay.hpp"
#include "coll/schedule/brief.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

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

/// Replays with members that run ahead and with none that do, and compares all times.
void expect_same_if_watched(const Algorithm& algorithm, const Shape& shape, const Machine& machine,
                            ReplayOptions options = {}) {
  const Replayed free = replay(algorithm, shape, machine, options);
  IdleWatcher watcher;
  options.watcher = &watcher;
  const Replayed watched = replay(algorithm, shape, machine, options);
  ASSERT_EQ(free.problem, "");
  ASSERT_EQ(watched.problem, "");
  EXPECT_EQ(free.time, watched.time);
  EXPECT_EQ(free.messages, watched.messages);
  for (Rank member = 0; member < shape.ranks; ++member) {
    EXPECT_EQ(free.members[member].ended, watched.members[member].ended) << member;
    EXPECT_EQ(free.members[member].drained, watched.members[member].drained) << member;
    EXPECT_EQ(free.members[member].busy, watched.members[member].busy) << member;
  }
}

Step get_8_bytes(Rank owner) {
  Step step;
  step.kind = Step::Kind::get;
  step.peer = owner;
  step.from = at(Space::scratch, 0);
  step.to = at(Space::scratch, 0);
  step.bytes = 8;
  step.done = 1;
  return step;
}

Machine slow_processors() {
  Machine machine;
  machine.levels = {{1, {.latency = 2'000'000, .overhead = 5'000'000, .gap = 3'000'000}}};
  return machine;
}

Shape broadcast_of_nine(Sync in, Sync out) {
  Shape shape;
  shape.operation = Operation::broadcast;
  shape.in = in;
  shape.out = out;
  shape.ranks = 9;
  shape.bytes = shape.pitch = 8;
  return shape;
}

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
          return index == 2 ? wait_only(1, 1) : get_8_bytes(kOwner);
        },
    .cost = [](const Shape&) noexcept { return Cost{}; },
};

// The request is in place at the owner at 13 us, and the owner hands over its second signal at 15 us, for which it has been
// busy since 10 us. The answer goes first.
TEST(ReplayPasses, NobodyRunsAheadOfAnAnswer) {
  expect_same_if_watched(kOneGets, broadcast_of_nine(Sync::none, Sync::all), slow_processors());
}

/// Members 1 and 2 get as soon as they have said that they are there: member 2 from 4, which waits for members below it.
const Algorithm kGetAtOnce{
    .name = "get-at-once",
    .operation = Operation::broadcast,
    .parameters = {},
    .refusal = no_refusal,
    .needs = [](const Shape&) noexcept { return Needs{.scratch = 64, .counters = 2}; },
    .lanes = one_lane,
    .length = [](const Shape&, Rank position, std::uint32_t) noexcept -> std::uint32_t {
      return position == 1 || position == 2 ? 2 : 0;
    },
    .step =
        [](const Shape&, Rank position, std::uint32_t, std::uint32_t index) noexcept {
          return index == 1 ? wait_only(1, 1) : get_8_bytes(position == 1 ? 8 : 4);
        },
    .cost = [](const Shape&) noexcept { return Cost{}; },
};

// Member 4 has heard from those below it at 13 us and hands over its signal at 18 us. It is asked at 16 us, so the answer goes
// first, and the signal at 19 us.
TEST(ReplayPasses, AnAnswerGoesBeforeASignalOfThePassBefore) {
  expect_same_if_watched(kGetAtOnce, broadcast_of_nine(Sync::all, Sync::none), slow_processors());
}

TEST(ReplayPasses, MembersOfReadersEndAtTheSameTimes) {
  Machine quick;
  quick.levels = {
      {1, {.latency = 1'000'000, .overhead = 300'000, .gap = 100'000, .femtoseconds_per_byte = 100'000}}};
  for (const Algorithm* const algorithm : all_algorithms()) {
    if (!algorithm->reads) continue;
    for (const Rank ranks : {2u, 5u, 16u, 21u}) {
      std::vector<Picoseconds> late(ranks);
      for (Rank rank = 0; rank < ranks; ++rank) late[rank] = Picoseconds{rank} * rank % 11 * 700'000;
      for (const Addresses addresses : {Addresses::local, Addresses::single}) {
        for (const Machine& machine : {quick, slow_processors()}) {
          Shape shape;
          shape.operation = algorithm->operation;
          shape.ranks = ranks;
          shape.root = ranks / 3;
          shape.bytes = shape.pitch = 4096;
          shape.in = shape.out = Sync::all;
          shape.addresses = addresses;
          for (std::size_t i = 0; i < algorithm->parameters.size(); ++i)
            shape.parameters[i] = algorithm->parameters[i].usual;
          SCOPED_TRACE(std::string(algorithm->name) + " of " + std::to_string(ranks));
          expect_same_if_watched(*algorithm, shape, machine);
          ReplayOptions options;
          options.calls = late;
          expect_same_if_watched(*algorithm, shape, machine, options);
        }
      }
    }
  }
}

// A root that gets from all learns of many gets at once, in their order.
TEST(ReplayPasses, ManyGetsAreOverInTheirOrder) {
  Shape shape;
  shape.operation = Operation::gather;
  shape.ranks = 300;
  shape.bytes = shape.pitch = 8;
  shape.in = shape.out = Sync::all;
  Machine machine;
  machine.levels = {{1, {.latency = 1'000'000, .overhead = 300'000, .gap = 100'000}}};
  expect_same_if_watched(kGatherGet, shape, machine);
  // The gets of the root, one after the other, and what goes before and behind: 9 rounds, the news of all, and the last get.
  const Replayed all = replay(kGatherGet, shape, machine);
  EXPECT_GE(all.time, 299 * Picoseconds{300'000});
  EXPECT_EQ(all.messages, 300 * 9 + 299 + 2 * 299 + 299u);
}

}  // namespace
}  // namespace aqueduct::coll
