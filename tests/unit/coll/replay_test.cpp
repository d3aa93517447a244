// The replay is what one list of events gives, and what a replay step by step gives.

#include "coll/algorithms/algorithms.hpp"
#include "coll/model/replay.hpp"
#include "coll/schedule/schedule.hpp"
#include "tests/unit/coll/replay_machines.hpp"
#include "tests/unit/coll/replay_obvious.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace aqueduct::coll::replays {
namespace {

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
        machine.receive = chance() % 2 * (chance() % 200);
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

}  // namespace
}  // namespace aqueduct::coll::replays
