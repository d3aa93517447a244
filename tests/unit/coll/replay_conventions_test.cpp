// The conventions of the replay, by hand.

#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/model/replay.hpp"
#include "tests/unit/coll/replay_machines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace aqueduct::coll::replays {
namespace {

using testing::HasSubstr;

using Steps = std::vector<Step>;
/// Members do what a list says; the one at `position` what `lists[position]` says, each in its own lane.
struct Listed {
  static inline std::vector<std::vector<Steps>> lists;
  static Algorithm made() {
    return {
        .name = "listed",
        .operation = Operation::broadcast,
        .parameters = {},
        .refusal = no_refusal,
        .needs = [](const Shape&) noexcept { return Needs{.scratch = 8, .temp = 8, .counters = 8}; },
        .lanes = [](const Shape&,
                    Rank position) noexcept { return static_cast<std::uint32_t>(lists[position].size()); },
        .length =
            [](const Shape&, Rank position, std::uint32_t lane) noexcept {
              return static_cast<std::uint32_t>(lists[position][lane].size());
            },
        .step = [](const Shape&, Rank position, std::uint32_t lane,
                   std::uint32_t index) noexcept { return lists[position][lane][index]; },
        .cost = [](const Shape&) noexcept { return Cost{}; }};
  }
};
Replayed replay_listed(std::vector<std::vector<Steps>> lists, const Machine& machine,
                       const ReplayOptions& options = {}) {
  Listed::lists = std::move(lists);
  static const Algorithm algorithm = Listed::made();
  Shape shape = shape_of(algorithm, static_cast<Rank>(Listed::lists.size()), 8);
  return replay(algorithm, shape, machine, options);
}
Step put_bytes(Rank peer, std::uint64_t bytes, Counter raise) { return put_to(peer, {}, {}, bytes, raise); }
Step get_bytes(Rank peer, std::uint64_t bytes, Counter done) {
  Step step;
  step.kind = Step::Kind::get;
  step.peer = peer;
  step.bytes = bytes;
  step.done = done;
  return step;
}
// L 1000, o 10, g 100, 1 ps a byte.
const Machine kHand =
    machine_of({.latency = 1000, .overhead = 10, .gap = 100, .femtoseconds_per_byte = 1000});

TEST(Replay, ChargesOverheadOnceAndGapsBetweenMessages) {
  // The second message is posted at 20, but the port is free at 10 + 50 + 100.
  const Replayed out = replay_listed(
      {{{put_bytes(1, 50, 0), put_bytes(1, 50, 1)}}, {{wait_only(0, 1), wait_only(1, 1)}}}, kHand);
  EXPECT_EQ(out.problem, "");
  EXPECT_EQ(out.members[0].drained, 20u);
  EXPECT_EQ(out.members[0].ended, 160u + 50);  // its sources are free
  EXPECT_EQ(out.members[1].ended, 160u + 1000 + 50);
  EXPECT_EQ(out.members[0].busy, 20u);
  EXPECT_EQ(out.members[1].idle(), 1210u);
}

TEST(Replay, APortTakesOneMessageAfterTheOther) {
  // Three heads at 1010; the last begins at 1010 + 2 * 150.
  const Steps one{put_bytes(3, 50, 0)};
  const Replayed out = replay_listed({{one}, {one}, {one}, {{wait_only(0, 3)}}}, kHand);
  EXPECT_EQ(out.members[3].ended, 1010u + 300 + 50);
}

TEST(Replay, AGetAsksTheOwnersPort) {
  // The request is in place at 1010. The owner has posted 500 bytes at 1005: its port is free at 1015 + 500 + 100.
  ReplayOptions options;
  const std::vector<Picoseconds> calls{0, 1000, 0};
  options.calls = calls;
  const Replayed alone =
      replay_listed({{{get_bytes(1, 50, 0), wait_only(0, 1)}}, {{}}, {{}}}, kHand, options);
  EXPECT_EQ(alone.problem, "");
  EXPECT_EQ(alone.members[0].ended, 1010u + 1000 + 50);
  const Replayed busy =
      replay_listed({{{get_bytes(1, 50, 0), wait_only(0, 1)}}, {{put_bytes(2, 500, 0)}}, {{wait_only(0, 1)}}},
                    kHand, options);
  // Both reach the port at 1010, the answer first: it was in place before the processor went on.
  EXPECT_EQ(busy.members[0].ended, 1010u + 1000 + 50);
  EXPECT_EQ(busy.members[2].ended, 1010u + 50 + 100 + 1000 + 500);
}

TEST(Replay, PutsInPiecesAreMessagesAndASignal) {
  Step strided = put_bytes(1, 50, 0);
  strided.runs = 3;
  strided.done = 1;
  Machine pieces = kHand;
  pieces.strided = Strided::pieces;
  const std::vector<std::vector<Steps>> lists{{{strided, wait_only(1, 1)}}, {{wait_only(0, 1)}}};
  const Replayed whole = replay_listed(lists, kHand);
  EXPECT_EQ(whole.messages, 1u);
  EXPECT_EQ(whole.members[0].ended, 10u + 150);
  EXPECT_EQ(whole.members[1].ended, 10u + 1000 + 150);
  const Replayed cut = replay_listed(lists, pieces);
  EXPECT_EQ(cut.problem, "");
  EXPECT_EQ(cut.messages, 4u);
  EXPECT_EQ(cut.bytes, 150u);
  // The third enters at 310, is in place at 1360, which is known at 2360; then a signal.
  EXPECT_EQ(cut.members[0].ended, 2370u);
  EXPECT_EQ(cut.members[1].ended, 2370u + 1000);
}

TEST(Replay, ALaneGoesOnUntilItWaitsBeforeTheNextOne) {
  // Lane 0 waits for what arrives at 1010; lane 1 posts from 1005 to 1025, and lane 0 comes after.
  const std::vector<Picoseconds> calls{0, 1005, 0};
  ReplayOptions options;
  options.calls = calls;
  const Replayed out = replay_listed({{{signal_to(1, 0)}},
                                      {{after(signal_to(2, 0), 0, 1)}, {signal_to(2, 1), signal_to(2, 1)}},
                                      {{wait_only(0, 1), wait_only(1, 2)}}},
                                     kHand, options);
  EXPECT_EQ(out.problem, "");
  EXPECT_EQ(out.members[1].ended, 1035u);
}

TEST(Replay, CompletionsAreLearntBetweenLooks) {
  // The put of lane 0 leaves at 10 + 5, while lane 1 posts until 40: lane 0 learns of it at 40.
  Step put = put_bytes(1, 5, 0);
  put.done = 0;
  const Replayed out = replay_listed(
      {{{put, after(signal_to(1, 1), 0, 1)}, {signal_to(1, 2), signal_to(1, 2), signal_to(1, 2)}},
       {{wait_only(0, 1), wait_only(1, 1), wait_only(2, 3)}}},
      kHand);
  EXPECT_EQ(out.problem, "");
  EXPECT_EQ(out.members[0].ended, 50u);
}

TEST(Replay, CallsFollowOrOverlap) {
  const Algorithm& tree = kBroadcastKAry;
  const Shape shape = shape_of(tree, 16, 8, Sync::all);
  const std::vector<ReplayedCall> calls(4, {&tree, shape});
  const Picoseconds one = replay(tree, shape, kHand).time;
  const Picoseconds four = replay(calls, kHand).time;
  EXPECT_GT(four, 3 * one);
  ReplayOptions options;
  options.compute = 100'000;
  const Picoseconds computing = replay(calls, kHand, options).time;
  EXPECT_GE(computing, four + 3 * 100'000 - one);
  options.compute = 0;
  options.in_flight = true;
  EXPECT_LT(replay(calls, kHand, options).time, 2 * one);
}

TEST(Replay, RanksOfAHostShareItsProcessors) {
  const auto times = [](std::uint32_t cores, Picoseconds turn) {
    Machine machine = kHand;
    machine.host = 2;
    machine.cores = cores;
    machine.turn = turn;
    const Replayed out = replay(kBarrierDissemination, shape_of(kBarrierDissemination, 2, 0), machine);
    EXPECT_EQ(out.problem, "");
    EXPECT_EQ(out.members[0].busy + out.members[1].busy, 20u);
    return std::pair(out.members[0].ended, out.members[1].ended);
  };
  EXPECT_EQ(times(0, 7), std::pair(1010ul, 1010ul));
  EXPECT_EQ(times(2, 7), std::pair(1010ul, 1010ul));
  // The second one posts from 10 to 20, or from 17 to 27.
  EXPECT_EQ(times(1, 0), std::pair(1020ul, 1010ul));
  // At 1010 the second one has the processor for the 141st time, at 1027 for the second time after that.
  EXPECT_EQ(times(1, 7), std::pair(1010ul + 3 * 7, 1010ul));
  // Or from 1210 to 1220. The message of the second one is in place at 2220, before that leaves the processor.
  EXPECT_EQ(times(1, 1200), std::pair(1220ul + 1200, 1220ul));
}

TEST(Replay, GetsWithinAHostMayBeReads) {
  Machine machine = kHand;
  machine.host = 2;
  Step get = put_bytes(1, 50, 0);
  get.kind = Step::Kind::get;
  get.raise = kNoCounter;
  get.done = 0;
  const auto gets_from = [&](Rank owner) {
    get.peer = owner;
    return replay_listed({{{get, wait_only(0, 1)}}, {{}}, {{}}}, machine);
  };
  machine.gets = Gets::reads;
  const Replayed read = gets_from(1);
  EXPECT_EQ(read.problem, "");
  EXPECT_EQ(read.members[0].ended, 10u + 1000 + 50);
  EXPECT_EQ(read.members[0].busy, 10u + 1000 + 50);
  EXPECT_EQ(read.messages, 0u);
  EXPECT_EQ(gets_from(2).members[0].ended, 10u + 1000 + 1000 + 50 + 0)
      << "of another host: asked for, and sent";
  machine.gets = Gets::messages;
  EXPECT_EQ(gets_from(1).members[0].ended, gets_from(2).members[0].ended);
}

/// Members 0 and 1 on one host, 2 and 3 on another, with a processor for each host.
Machine two_for_a_processor() {
  Machine machine = kHand;
  machine.host = 2;
  machine.cores = 1;
  machine.turn = 7;
  return machine;
}

TEST(Replay, ARankKeepsItsProcessorUntilItWaits) {
  // Member 0 posts three signals before member 1 gets the processor, from 30 to 37; then that posts until 47.
  const Steps three{signal_to(2, 0), signal_to(2, 0), signal_to(2, 0)};
  const std::vector<Steps> last{{wait_only(0, 3), wait_only(1, 1)}};
  const Replayed out = replay_listed({{three}, {{signal_to(2, 1)}}, last, {{}}}, two_for_a_processor());
  EXPECT_EQ(out.problem, "");
  EXPECT_EQ(out.members[0].ended, 30u);
  EXPECT_EQ(out.members[1].ended, 47u);
}

TEST(Replay, ARankThatWaitsShortlyGoesOnBeforeOthers) {
  // The source of member 0 is free at 60. With a turn of 60 it still has the processor then, and posts until 70.
  const auto ends = [](Picoseconds turn) {
    Machine machine = two_for_a_processor();
    machine.turn = turn;
    Step put = put_bytes(2, 50, 0);
    put.done = 0;
    const Replayed out = replay_listed({{{put, after(signal_to(2, 0), 0, 1)}},
                                        {{signal_to(2, 1)}},
                                        {{wait_only(0, 2), wait_only(1, 1)}},
                                        {{}}},
                                       machine);
    EXPECT_EQ(out.problem, "");
    return std::pair(out.members[0].ended, out.members[1].ended);
  };
  EXPECT_EQ(ends(60), std::pair(70ul, 70ul + 60 + 10));
  // With a turn of 7 the other one posts from 17 to 27. When the source is free, the processor is with that one, until 27 + 5 * 7.
  EXPECT_EQ(ends(7), std::pair(72ul, 27ul));
}

TEST(Replay, ReceivingIsWorkOfASharedProcessor) {
  // Two messages reach member 0 at 1010 and 1110; its look at 1110 takes 2 x 100 before it sees them.
  Machine machine = two_for_a_processor();
  machine.receive = 100;
  const Steps two{signal_to(0, 0), signal_to(0, 0)};
  const auto ends = [&](const Machine& on) {
    const Replayed out = replay_listed({{{wait_only(0, 2)}}, {{}}, {two}, {{}}}, on);
    EXPECT_EQ(out.problem, "");
    return std::pair(out.members[0].ended, out.members[0].busy);
  };
  EXPECT_EQ(ends(machine), std::pair(1110ul + 2 * 100, 200ul));
  machine.cores = 2;
  EXPECT_EQ(ends(machine), std::pair(1110ul, 0ul)) << "with a processor of its own it is part of L";
}

TEST(Replay, WhoWaitsLeavesTheProcessorToOthersUntilItCanGoOn) {
  // Member 0 waits for two messages: the first one alone, at 1010, is nothing to look for.
  const std::vector<Picoseconds> calls{0, 1005, 0, 500};
  ReplayOptions options;
  options.calls = calls;
  const Steps busy(60, signal_to(2, 0));  // from 1005 to 1605, as the processor has been free for long
  const Replayed out =
      replay_listed({{{wait_only(0, 2)}}, {busy}, {{signal_to(0, 0), wait_only(0, 60)}}, {{signal_to(0, 0)}}},
                    two_for_a_processor(), options);
  EXPECT_EQ(out.problem, "");
  EXPECT_EQ(out.members[1].ended, 1605u);
  // The second message is in place at 500 + 10 + 1000.
  EXPECT_EQ(out.members[0].ended, 1605u + 7);
}

TEST(Replay, LongerMessagesMayCostMore) {
  Machine machine = kHand;
  machine.levels.front().longer = {
      {51, {.latency = 3000, .overhead = 40, .gap = 100, .femtoseconds_per_byte = 0}}};
  const auto ended = [&](std::uint64_t bytes) {
    return replay_listed({{{put_bytes(1, bytes, 0)}}, {{wait_only(0, 1)}}}, machine).members[1].ended;
  };
  EXPECT_EQ(ended(50), 10u + 1000 + 50);
  EXPECT_EQ(ended(51), 40u + 3000);
}

TEST(Replay, NoiseStopsProcessors) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 chance(seed);
  for (int i = 0; i < 200; ++i) {
    const Detours detours{100, 1 + chance() % 99, chance()};
    const Rank rank = chance() % 1000;
    // Where it stops: what no work of 1 begins at without being late by the rest of the stop.
    const Picoseconds begin = chance() % 1000;
    const Picoseconds length = chance() % 400;
    Picoseconds at = begin;
    for (Picoseconds done = 0; done < length; ++done) at = detours.end_of(rank, at, 1);
    EXPECT_EQ(detours.end_of(rank, begin, length), at);
  }
}

TEST(Replay, SaysWhatItCannotDo) {
  const Shape shape = shape_of(kBarrierTree, 4, 0);
  EXPECT_THAT(replay(kBarrierTree, shape, machine_of({.latency = 0})).problem,
              HasSubstr("at least a picosecond"));
  Machine none;
  none.levels.clear();
  EXPECT_THAT(replay(kBarrierTree, shape, none).problem, HasSubstr("at least one level"));
  EXPECT_THAT(replay({}, kHand).problem, HasSubstr("no call"));
  EXPECT_THAT(replay_listed({{{}}, {{wait_only(0, 1)}}}, kHand).problem,
              HasSubstr("member 1, lane 0, step 0: it waits for ever"));
  Step native;
  native.kind = Step::Kind::native;
  EXPECT_THAT(replay_listed({{{native}}}, kHand).problem, HasSubstr("conduit"));
  ReplayOptions options;
  options.detours = {10, 10, 0};
  EXPECT_THAT(replay(kBarrierTree, shape, kHand, options).problem, HasSubstr("shorter than their period"));
  options.detours = {};
  options.most_messages = 2;
  EXPECT_THAT(replay(kBarrierTree, shape, kHand, options).problem, HasSubstr("more than 2 messages"));
}

}  // namespace
}  // namespace aqueduct::coll::replays
