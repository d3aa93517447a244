#include "coll/algorithms/algorithms.hpp"
#include "coll/algorithms/steps.hpp"
#include "coll/model/replay.hpp"
#include "coll/schedule/tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

namespace aqueduct::coll {
namespace {

using testing::HasSubstr;

constexpr Picoseconds kUs = 1'000'000;

Machine machine_of(const LogGP& link) {
  Machine machine;
  machine.levels = {{1, link}};
  return machine;
}
/// Table 5.1 of the source. Its replay oracle (F-T2) lets the gap of a message pass before it, so a hop takes L + g.
Machine seed_machine() {
  return machine_of(
      {.latency = 4 * kUs, .overhead = kUs / 2, .gap = 2 * kUs, .femtoseconds_per_byte = 1'000'000});
}

Shape shape_of(const Algorithm& algorithm, Rank ranks, std::uint64_t bytes, Sync sync = Sync::none) {
  Shape shape;
  shape.operation = algorithm.operation;
  shape.in = shape.out = sync;
  shape.addresses = Addresses::single;
  shape.ranks = ranks;
  shape.bytes = shape.pitch = algorithm.operation == Operation::barrier ? 0 : bytes;
  for (std::size_t i = 0; i < algorithm.parameters.size(); ++i)
    shape.parameters[i] = algorithm.parameters[i].usual;
  return shape;
}

/// A scatter down a k-ary tree whose root does not copy its own block, as in the table of the requirements.
std::uint32_t subtree_children(const Shape& shape, Rank position) {
  return Tree{Tree::Kind::k_ary, shape.parameters[0], shape.ranks}.children(position);
}
const Algorithm kAllBlocksOnKAry{
    .name = "k-ary",
    .operation = Operation::scatter,
    .parameters = {},
    .refusal = no_refusal,
    .needs =
        [](const Shape& shape) noexcept {
          return Needs{.scratch = shape.ranks * shape.bytes, .counters = 1};
        },
    .lanes = one_lane,
    .length = [](const Shape& shape, Rank position,
                 std::uint32_t) noexcept { return std::max(1U, subtree_children(shape, position)); },
    .step =
        [](const Shape& shape, Rank position, std::uint32_t, std::uint32_t index) noexcept {
          const Tree tree{Tree::Kind::k_ary, shape.parameters[0], shape.ranks};
          Step step;
          if (index < tree.children(position)) {
            const Rank child = tree.child(position, index);
            step = put_to(child, at(Space::scratch, 0), at(Space::scratch, 0),
                          tree.subtree(child) * shape.bytes, 0);
          }
          return position != 0 && index == 0 ? after(step, 0, 1) : step;
        },
    .cost = [](const Shape&) noexcept { return Cost{}; },
};

double replayed_us(const Algorithm& algorithm, Rank ranks, std::uint64_t bytes, std::uint32_t radix) {
  Shape shape = shape_of(algorithm, ranks, bytes);
  shape.parameters = {radix, 1, 0};
  if (&algorithm == &kBroadcastFlat || &algorithm == &kScatterDirect) shape.parameters = {1, 0, 0};
  const Replayed out = replay(algorithm, shape, seed_machine());
  EXPECT_EQ(out.problem, "");
  return std::round(static_cast<double>(out.time) / 1e5) / 10;
}
std::vector<double> replayed_row(const Algorithm& ary, const Algorithm& nomial, const Algorithm& flat,
                                 Rank ranks, std::uint64_t bytes) {
  std::vector<double> out;
  for (const std::uint32_t radix : {2U, 4U, 8U, 16U}) out.push_back(replayed_us(ary, ranks, bytes, radix));
  for (const std::uint32_t radix : {2U, 4U, 8U, 16U}) out.push_back(replayed_us(nomial, ranks, bytes, radix));
  out.push_back(replayed_us(flat, ranks, bytes, 1));
  return out;
}

TEST(Replay, GivesTheTableOfTreesOfTheRequirements) {
  const auto broadcast = [](Rank ranks, std::uint64_t bytes) {
    return replayed_row(kBroadcastKAry, kBroadcastKNomial, kBroadcastFlat, ranks, bytes);
  };
  // 4 threads on a node.
  const auto scatter = [](std::uint64_t bytes) {
    return replayed_row(kAllBlocksOnKAry, kScatterKNomial, kScatterDirect, 256, bytes * 4);
  };
  using Row = std::vector<double>;
  EXPECT_EQ(broadcast(16, 8), (Row{19.5, 17.0, 21.1, 32.6, 18.0, 17.0, 21.1, 32.6, 32.6}));
  EXPECT_EQ(broadcast(64, 8), (Row{32.6, 27.6, 33.1, 41.1, 27.0, 25.6, 33.1, 41.1, 129.0}));
  EXPECT_EQ(broadcast(256, 8), (Row{45.6, 38.1, 43.6, 65.2, 36.1, 34.1, 41.6, 65.2, 514.5}));
  EXPECT_EQ(broadcast(256, 8192), (Row{160.2, 152.7, 191.0, 310.8, 101.5, 132.3, 180.8, 310.8, 2601.5}));
  EXPECT_EQ(scatter(8), (Row{61.3, 48.7, 52.7, 73.6, 44.2, 42.2, 49.7, 73.2, 520.7}));
  const Row large = scatter(8192);
  const Row expected{16266, 10950, 9448, 8880, 8392, 8390, 8397, 8421, 8868};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(std::round(large[i]), expected[i]) << i;
}

/// The conventions once more, as obvious as can be, for members with one lane that only put: one list of events in order.
class Obvious {
 public:
  Obvious(const Algorithm& algorithm, const Shape& shape, const Machine& machine,
          const std::vector<Picoseconds>& calls)
      : machine_(machine), members_(shape.ranks), counters_(Schedule::needs(algorithm, shape).counters) {
    for (Rank rank = 0; rank < shape.ranks; ++rank) {
      Member& member = members_[rank];
      const Schedule schedule(algorithm, shape, rank);
      for (std::uint32_t i = 0; i < schedule.length(0); ++i) member.steps.push_back(schedule.step(0, i));
      member.arrivals.resize(counters_);
      events_.insert({{calls[rank], 3, rank, number_++}, {}});
    }
  }
  /// When each member's call ends.
  std::vector<Picoseconds> ends() {
    while (!events_.empty()) {
      const auto [key, message] = *events_.begin();
      events_.erase(events_.begin());
      now_ = key.time;
      if (key.what == 0) take(message);
      if (key.what == 1) members_[message.to].arrivals[message.counter] += message.add;
      if (key.what == 2) members_[key.rank].arrivals[message.counter] += 1;
      if (key.what == 1 || key.what == 2) events_.insert({{now_, 4, key.rank, number_++}, {}});
      if (key.what == 3) members_[key.rank].called = true;
      if (key.what == 3 || key.what == 4) go_on(key.rank);
    }
    std::vector<Picoseconds> out;
    for (const Member& member : members_) out.push_back(std::max(member.over, member.sources));
    return out;
  }

 private:
  struct Key {
    Picoseconds time;
    int what;  // 0 a head, 1 in place, 2 a source is free, 3 the call, 4 the processor goes on
    Rank rank;
    std::uint64_t number;
    bool operator<(const Key& other) const {
      const auto order = [](int one) { return one == 4 ? 3 : one; };
      return std::tuple(time, order(what), rank, number) <
             std::tuple(other.time, order(other.what), other.rank, other.number);
    }
  };
  struct Message {
    Rank from = 0;
    Rank to = 0;
    std::uint64_t bytes = 0;
    Counter counter = 0;
    std::uint32_t add = 0;
  };
  struct Member {
    std::vector<Step> steps;
    std::size_t next = 0;
    bool called = false;
    Picoseconds free = 0;
    Picoseconds sends = 0;
    Picoseconds takes = 0;
    Picoseconds over = 0;
    Picoseconds sources = 0;
    std::vector<std::uint32_t> arrivals;
  };

  void take(const Message& message) {
    Member& member = members_[message.to];
    const LogGP& link = machine_.between(message.from, message.to, message.bytes);
    const Picoseconds in_place = std::max(now_, member.takes) + link.bytes_time(message.bytes);
    member.takes = in_place + link.gap;
    events_.insert({{in_place, 1, message.to, number_++}, message});
  }
  void go_on(Rank rank) {
    Member& member = members_[rank];
    while (member.called && member.free <= now_ && member.next < member.steps.size()) {
      const Step& step = member.steps[member.next];
      if (step.wait_for != kNoCounter && member.arrivals[step.wait_for] < step.wait_until) return;
      ++member.next;
      if (step.kind != Step::Kind::put && step.kind != Step::Kind::signal) {
        if (step.done != kNoCounter) ++member.arrivals[step.done];
        continue;
      }
      const std::uint64_t bytes = step.kind == Step::Kind::put ? step.bytes * step.runs : 0;
      const LogGP& link = machine_.between(rank, step.peer, bytes);
      const Picoseconds posted = link.overhead == 0 ? now_ : work(rank, link.overhead);
      const Picoseconds entered = std::max(posted, member.sends);
      const Picoseconds left = entered + link.bytes_time(bytes);
      member.sends = left + link.gap;
      events_.insert(
          {{entered + link.latency, 0, rank, number_++}, {rank, step.peer, bytes, step.raise, step.add}});
      if (bytes > 0) member.sources = std::max(member.sources, left);
      if (step.done != kNoCounter) {
        const Picoseconds when = bytes > 0 ? left : posted;
        events_.insert({{when, 2, rank, number_++}, {.counter = step.done}});
      }
      member.free = posted;
      events_.insert({{posted, 4, rank, number_++}, {}});
    }
    if (member.called && member.free <= now_ && member.next == member.steps.size() && member.over == 0)
      member.over = now_;
  }
  /// When work is over that could begin now.
  Picoseconds work(Rank rank, Picoseconds length) {
    if (machine_.cores == 0 || machine_.cores >= machine_.host) return now_ + length;
    std::vector<Core>& cores = cores_[rank / machine_.host];
    if (cores.empty()) cores.resize(machine_.cores);
    Core* best = nullptr;
    for (Core& core : cores) {
      if (best == nullptr && core.last == rank && core.free <= now_) best = &core;
    }
    const bool own = best != nullptr;
    for (Core& core : cores) {
      if (best == nullptr || (!own && core.free < best->free)) best = &core;
    }
    const Picoseconds begin = std::max(now_, best->free);
    const bool turns = best->last != kNoRank && best->last != rank;
    *best = {begin + length + (turns ? machine_.turn : 0), rank};
    return best->free;
  }

  struct Core {
    Picoseconds free = 0;
    Rank last = kNoRank;
  };

  const Machine& machine_;
  std::vector<Member> members_;
  std::map<Rank, std::vector<Core>> cores_;  // [host]
  std::uint32_t counters_;
  std::map<Key, Message> events_;
  Picoseconds now_ = 0;
  std::uint64_t number_ = 0;
};

Machine random_machine(std::mt19937& chance) {
  Machine machine;
  machine.levels.clear();
  for (const Rank group : {4U, 1U << 20}) {
    machine.levels.push_back({group,
                              {.latency = 1 + chance() % 3000,
                               .overhead = chance() % 3 * (chance() % 500),
                               .gap = chance() % 3 * (chance() % 700),
                               .femtoseconds_per_byte = chance() % 3 * (chance() % 5000)}});
    if (chance() % 2 == 0) continue;
    Machine::Level& level = machine.levels.back();
    level.longer = {{1 + chance() % 2000, level.link}};
    level.longer.back().link.latency += chance() % 700;
    level.longer.back().link.overhead += chance() % 300;
  }
  return machine;
}
std::vector<Picoseconds> random_calls(std::mt19937& chance, Rank ranks) {
  std::vector<Picoseconds> calls(ranks);
  for (Picoseconds& call : calls) call = chance() % 2 * (chance() % 10'000);
  return calls;
}

bool has_several_lanes(const Algorithm& algorithm, const Shape& shape) {
  for (Rank position = 0; position < shape.ranks; ++position) {
    if (Schedule(algorithm, shape, position).lanes() > 1) return true;
  }
  return false;
}

TEST(Replay, IsWhatOneListOfEventsGives) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 chance(seed);
  int compared = 0;
  for (const Algorithm* const algorithm : all_algorithms()) {
    for (const Rank ranks : {2U, 5U, 8U, 13U}) {
      const Shape shape = shape_of(*algorithm, ranks, 1 + chance() % 5000, static_cast<Sync>(chance() % 3));
      if (Schedule::refusal(*algorithm, shape) != nullptr || has_several_lanes(*algorithm, shape)) continue;
      if (algorithm->reads) continue;  // the list knows no gets
      Machine machine = random_machine(chance);
      if (chance() % 2 == 0) {
        machine.host = 2 + chance() % 4;
        machine.cores = 1 + chance() % 3;
        machine.turn = chance() % 2 * (chance() % 300);
      }
      const std::vector<Picoseconds> calls = random_calls(chance, ranks);
      ReplayOptions options;
      options.calls = calls;
      const Replayed out = replay(*algorithm, shape, machine, options);
      ASSERT_EQ(out.problem, "");
      std::vector<Picoseconds> ends;
      for (const ReplayedMember& member : out.members) ends.push_back(member.ended);
      EXPECT_EQ(ends, Obvious(*algorithm, shape, machine, calls).ends())
          << algorithm->name << ", operation " << static_cast<int>(algorithm->operation) << ", " << ranks
          << " ranks";
      EXPECT_EQ(out.messages, Schedule::cost(*algorithm, shape).messages);
      EXPECT_EQ(out.bytes, Schedule::cost(*algorithm, shape).bytes);
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

class Nobody final : public Watcher {
 public:
  void busy(Rank, What, Picoseconds begin, Picoseconds end, Rank, std::uint64_t) override {
    sum += end - begin;
  }
  void message(Rank, Rank, std::uint64_t, Picoseconds entered, Picoseconds in_place) override {
    ++messages;
    EXPECT_LT(entered, in_place);
  }
  Picoseconds sum = 0;
  std::uint64_t messages = 0;
};

TEST(Replay, StepByStepIsTheSame) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 chance(seed);
  for (const Algorithm* const algorithm : all_algorithms()) {
    for (const Rank ranks : {1U, 2U, 7U, 16U, 33U}) {
      const Shape shape = shape_of(*algorithm, ranks, 1 + chance() % 5000, static_cast<Sync>(chance() % 3));
      if (Schedule::refusal(*algorithm, shape) != nullptr) continue;
      Machine machine = random_machine(chance);
      machine.copy_femtoseconds_per_byte = chance() % 3 * 100;
      machine.reduce_femtoseconds_per_byte = chance() % 3 * 100;
      const std::vector<Picoseconds> calls = random_calls(chance, ranks);
      Nobody nobody;
      ReplayOptions options;
      options.calls = calls;
      if (chance() % 2 == 0) options.detours = {1000, 1 + chance() % 200, chance()};
      const Replayed ahead = replay(*algorithm, shape, machine, options);
      options.watcher = &nobody;
      const Replayed stepped = replay(*algorithm, shape, machine, options);
      ASSERT_EQ(ahead.problem, "");
      EXPECT_EQ(ahead.time, stepped.time) << algorithm->name << " " << ranks;
      Picoseconds busy = 0;
      for (Rank rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(ahead.members[rank].ended, stepped.members[rank].ended) << algorithm->name << " " << rank;
        EXPECT_EQ(ahead.members[rank].drained, stepped.members[rank].drained);
        EXPECT_EQ(ahead.members[rank].busy, stepped.members[rank].busy);
        busy += ahead.members[rank].busy;
      }
      EXPECT_EQ(nobody.messages, ahead.messages);
      EXPECT_EQ(nobody.sum, busy);
    }
  }
}

// Conventions by hand.

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
    EXPECT_EQ(out.members[0].busy + out.members[1].busy, 20 + (cores == 1 ? turn : 0));
    return std::pair(out.members[0].ended, out.members[1].ended);
  };
  EXPECT_EQ(times(0, 7), std::pair(1010ul, 1010ul));
  EXPECT_EQ(times(2, 7), std::pair(1010ul, 1010ul));
  // The second one posts from 10 to 20, or to 27.
  EXPECT_EQ(times(1, 0), std::pair(1020ul, 1010ul));
  EXPECT_EQ(times(1, 7), std::pair(1027ul, 1010ul));
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
}  // namespace aqueduct::coll
