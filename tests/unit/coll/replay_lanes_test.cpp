#include "coll/algorithms/steps.hpp"
#include "coll/model/replay.hpp"
#include "coll/model/replay_lanes.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

using Steps = std::vector<Step>;
constexpr std::uint32_t kCounters = 64;

/// What each lane of each member does: [member][lane][step].
std::vector<std::vector<Steps>>& lists() {
  static std::vector<std::vector<Steps>> all;
  return all;
}

const Algorithm kListed{
    .name = "listed",
    .operation = Operation::broadcast,
    .parameters = {},
    .refusal = no_refusal,
    .needs = [](const Shape&) noexcept { return Needs{.scratch = 8, .temp = 8, .counters = kCounters}; },
    .lanes = [](const Shape&,
                Rank position) noexcept { return static_cast<std::uint32_t>(lists()[position].size()); },
    .length =
        [](const Shape&, Rank position, std::uint32_t lane) noexcept {
          return static_cast<std::uint32_t>(lists()[position][lane].size());
        },
    .step = [](const Shape&, Rank position, std::uint32_t lane,
               std::uint32_t index) noexcept { return lists()[position][lane][index]; },
    .cost = [](const Shape&) noexcept { return Cost{}; },
};

Shape shape_of_lists(Sync in, Sync out) {
  Shape shape;
  shape.operation = Operation::broadcast;
  shape.ranks = static_cast<Rank>(lists().size());
  shape.bytes = shape.pitch = 8;
  shape.in = in;
  shape.out = out;
  return shape;
}

/// Lists of lanes that only put. Each step waits for nothing, or for what an earlier one raises, so all come to an end.
void list_by_chance(std::mt19937& chance, Rank ranks) {
  lists().assign(ranks, {});
  for (std::vector<Steps>& lanes : lists()) lanes.resize(1 + chance() % 4);
  std::vector<Counter> raised(ranks);  // so many counters of each member
  for (std::uint32_t i = 0; i < 12 * ranks; ++i) {
    const Rank member = chance() % ranks;
    const Rank peer = (member + 1 + chance() % (ranks - 1)) % ranks;
    Step step;
    switch (chance() % 6) {
      case 0: break;
      case 1: step.kind = Step::Kind::tell; break;
      case 2: step = copy_of({}, {}, chance() % 300); break;
      case 3: step = signal_to(peer, 0); break;
      default: step = put_to(peer, {}, {}, chance() % 3 * (chance() % 2000), 0); break;
    }
    if (raised[member] != 0 && chance() % 4 != 0)
      step = after(step, static_cast<Counter>(chance() % raised[member]), 1);
    if (step.peer != kNoRank) {
      if (raised[peer] == kCounters) continue;
      step.raise = raised[peer]++;
    }
    // A put with bytes raises a counter of its own member between looks only: that is stepped.
    if ((step.peer == kNoRank || step.bytes == 0) && chance() % 3 == 0 && raised[member] != kCounters)
      step.done = raised[member]++;
    std::vector<Steps>& lanes = lists()[member];
    lanes[chance() % lanes.size()].push_back(step);
  }
}

Machine machine_by_chance(std::mt19937& chance) {
  Machine machine;
  machine.levels = {{1,
                     {.latency = 1 + chance() % 3000,
                      .overhead = chance() % 3 * (chance() % 500),
                      .gap = chance() % 3 * (chance() % 700),
                      .femtoseconds_per_byte = chance() % 3 * (chance() % 2000)}}};
  machine.copy_femtoseconds_per_byte = chance() % 2 * 1000;
  return machine;
}

class SteppingWatcher final : public Watcher {
 public:
  void busy(Rank, What, Picoseconds, Picoseconds, Rank, std::uint64_t) override {}
  void message(Rank, Rank, std::uint64_t, Picoseconds, Picoseconds) override {}
};

void expect_same_ends(const Replayed& one, const Replayed& other) {
  EXPECT_EQ(one.problem, other.problem);
  EXPECT_EQ(one.time, other.time);
  EXPECT_EQ(one.messages, other.messages);
  EXPECT_EQ(one.bytes, other.bytes);
  ASSERT_EQ(one.members.size(), other.members.size());
  for (std::size_t member = 0; member < one.members.size(); ++member) {
    EXPECT_EQ(one.members[member].ended, other.members[member].ended) << member;
    EXPECT_EQ(one.members[member].drained, other.members[member].drained) << member;
    EXPECT_EQ(one.members[member].busy, other.members[member].busy) << member;
  }
}

/// By ReplayLanes alone.
Replayed replay_lanes(const ReplayedCall& call, const Machine& machine, const ReplayOptions& options) {
  ReplayState state({&call, 1}, machine, options);
  EXPECT_TRUE(ReplayLanes(state).run());
  state.finish();
  return std::move(state.out);
}

TEST(ReplayLanes, MembersOfSeveralLanesEndWhenTheyDoStepByStep) {
  for (std::uint32_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 chance(seed);
    const Rank ranks = 2 + chance() % 6;
    list_by_chance(chance, ranks);
    const Machine machine = machine_by_chance(chance);
    std::vector<Picoseconds> calls(ranks);
    for (Picoseconds& call : calls) call = chance() % 2 * (chance() % 5000);
    ReplayOptions options;
    options.calls = calls;
    if (chance() % 3 == 0) options.detours = {1000, 1 + chance() % 200, chance()};
    const ReplayedCall call{&kListed,
                            shape_of_lists(static_cast<Sync>(chance() % 3), static_cast<Sync>(chance() % 3))};
    const Replayed lanes = replay_lanes(call, machine, options);
    EXPECT_EQ(lanes.problem, "");
    SteppingWatcher watcher;
    options.watcher = &watcher;
    expect_same_ends(lanes, replay({&call, 1}, machine, options));
    if (testing::Test::HasFailure()) return;
  }
}

// L 1000, o 10, g 100, 1 ps a byte.
Machine hand_machine() {
  Machine machine;
  machine.levels = {{1, {.latency = 1000, .overhead = 10, .gap = 100, .femtoseconds_per_byte = 1000}}};
  return machine;
}

// Member 1 calls at 1005. Whether lane 0 may go on then is not known before the window that has 1005, and lanes 1 and 2 could go
// on: an event ends the doubt. What lane 0 waits for comes at 1010, so lanes 1 and 2 have their turns first.
TEST(ReplayLanes, AnEventEndsADoubt) {
  lists() = {{{signal_to(1, 0)}},
             {{after(signal_to(2, 0), 0, 1)}, {signal_to(2, 1), wait_only(1, 1)}, {signal_to(2, 2)}},
             {{wait_only(2, 1), signal_to(1, 1), wait_only(0, 1), wait_only(1, 1)}}};
  const std::vector<Picoseconds> calls{0, 1005, 0};
  ReplayOptions options;
  options.calls = calls;
  const ReplayedCall call{&kListed, shape_of_lists(Sync::none, Sync::none)};
  const Replayed lanes = replay_lanes(call, hand_machine(), options);
  EXPECT_EQ(lanes.problem, "");
  // The signals enter at 1015, 1115 and 1215, so the one of lane 0 is there at 2215, and the answer to lane 2 at 2125 + 1000.
  EXPECT_EQ(lanes.members[2].ended, 2215u);
  EXPECT_EQ(lanes.members[1].ended, 3125u);
  SteppingWatcher watcher;
  options.watcher = &watcher;
  expect_same_ends(lanes, replay({&call, 1}, hand_machine(), options));
}

TEST(ReplayLanes, ALaneThatWaitsForEverIsNamed) {
  lists() = {{{wait_only(0, 1)}, {signal_to(1, 0)}}, {{wait_only(0, 1)}}};
  const ReplayedCall call{&kListed, shape_of_lists(Sync::none, Sync::none)};
  const Replayed lanes = replay_lanes(call, hand_machine(), {});
  EXPECT_EQ(lanes.problem, "member 0, lane 0, step 0: it waits for ever");
  EXPECT_EQ(replay({&call, 1}, hand_machine()).problem, lanes.problem);
}

// A get, or a put whose end the member waits for, must be stepped; the replay begins once more.
TEST(ReplayLanes, WhatDoesNotFitIsStepped) {
  Step put = put_to(1, {}, {}, 5, 0);
  put.done = 0;
  lists() = {{{put, after(signal_to(1, 1), 0, 1)}, {signal_to(1, 2)}},
             {{wait_only(0, 1), wait_only(1, 1), wait_only(2, 1)}}};
  const ReplayedCall call{&kListed, shape_of_lists(Sync::none, Sync::none)};
  EXPECT_TRUE(ReplayLanes::must_step(brief_of(put)));
  const Machine machine = hand_machine();
  const ReplayOptions options;
  ReplayState state({&call, 1}, machine, options);
  EXPECT_FALSE(ReplayLanes(state).run());
  EXPECT_EQ(replay({&call, 1}, machine).problem, "");
}

}  // namespace
}  // namespace aqueduct::coll
