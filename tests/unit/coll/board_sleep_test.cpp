// Members of a board that sleep whenever they have to wait: whoever lets one go on wakes it.

#include "tests/unit/coll/board_storm.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace aqueduct::coll::storm {
namespace {

/// A member, one step at a time. It sleeps after a step in vain, until another one wakes it.
struct Sleeper {
  Sleeper(StormMemory& memory, std::array<bool, kMembers>& woken, const BoardRoom& room, Rank rank)
      : board(StormAccess{&memory, &woken}, room, kMembers, rank), me(rank) {}

  void begin(const BoardRoom& room, StormKind kind) {
    ++number;
    call = std::make_unique<StormCall>(number, room, kind);
    plan = {};
    make_plan(plan, *call->algorithm, call->shape, me, room);
    const std::uint64_t words = kMembers * call->shape.bytes / 4 + 1;
    in.assign(words, 1);
    out.assign(words, 0);
    op = {};
    op.plan = &plan;
    op.combiner = &combiner;
    op.in = reinterpret_cast<const std::byte*>(in.data());
    op.out = reinterpret_cast<std::byte*>(out.data());
    op.mark = number;
    op.notes = {call->note(number, me, in.data(), true), call->note(number, me, out.data(), false)};
    board.begin(op);
  }
  /// How far it has come in its call.
  std::string place() const {
    return "call " + std::to_string(number) + " (" + std::string(call->algorithm->name) + ", " +
           std::to_string(static_cast<int>(call->shape.operation)) + ", root " +
           std::to_string(call->shape.root) + "), movement " + std::to_string(op.movement) + ", at " +
           std::to_string(op.at) + ", shown " + std::to_string(op.shown) + ", piece " +
           std::to_string(op.piece) + ", tile " + std::to_string(op.tile);
  }

  BoardOf<StormAccess> board;
  Rank me;
  std::uint32_t number = 0;
  bool calls = false;  ///< is in a call
  bool away = false;   ///< does not come back to the library for now
  BoardCombiner combiner = storm_combiner();
  std::unique_ptr<StormCall> call;
  BoardPlan plan;
  BoardOp op;
  std::vector<std::uint32_t> in, out;
};

/// Steps of members in any order. Now and then some stay away after a call; the others go on until all of them sleep, and then
/// none of these could have gone on.
void play(const BoardRoom& room, StormKind kind, std::uint32_t calls, std::uint32_t seed) {
  const auto memory = std::make_unique<StormMemory>();
  ASSERT_LE(room.bytes(), memory->part[0].size());
  std::array<bool, kMembers> awake;
  awake.fill(true);
  std::vector<std::unique_ptr<Sleeper>> members;
  for (Rank r = 0; r < kMembers; ++r) members.push_back(std::make_unique<Sleeper>(*memory, awake, room, r));
  std::mt19937 dice(seed);
  const auto step = [&](Sleeper& one) {
    if (!one.calls) one.begin(room, kind);
    awake[one.me] = false;
    one.calls = !one.board.step(one.op);
    if (!one.calls) awake[one.me] = true;
    ASSERT_FALSE(one.board.disagrees());
    if (!one.calls && dice() % 16 == 0) one.away = true;
  };
  while (true) {
    std::vector<Sleeper*> ready;
    for (const auto& one : members) {
      if (awake[one->me] && !one->away && (one->calls || one->number < calls)) ready.push_back(one.get());
    }
    if (!ready.empty()) {
      ASSERT_NO_FATAL_FAILURE(step(*ready[dice() % ready.size()]));
      continue;
    }
    bool over = true;
    for (const auto& one : members) {
      one->away = false;
      over = over && !one->calls && one->number == calls;
      if (!one->calls) continue;
      const std::string before = one->place();
      const bool ended = one->board.step(one->op);
      ASSERT_TRUE(!ended && one->place() == before)
          << "member " << one->me << " slept in " << before << ", and nobody has woken it";
    }
    if (over) return;
    bool goes_on = false;
    for (const auto& one : members)
      goes_on = goes_on || (awake[one->me] && (one->calls || one->number < calls));
    ASSERT_TRUE(goes_on) << "all members wait for ever";
  }
}

// Those who make room look at the count of members that wait for it, and wake all members if there is one.
TEST(BoardSleep, AMemberThatLeavesWaitsForRoomNoLonger) {
  const auto memory = std::make_unique<StormMemory>();
  std::array<bool, kMembers> awake{};
  Sleeper root(*memory, awake, kLeanBoard, 0);
  do {
    ASSERT_LT(root.number, 1000u) << "the root has room for ever";
    root.begin(kLeanBoard, StormKind::down);
  } while (root.board.step(root.op));
  const auto& waiting = root.board.access().tiles(0).short_of_room;
  ASSERT_EQ(waiting.load(), 1u);
  root.board.leave(root.op);
  EXPECT_EQ(waiting.load(), 0u);
}

TEST(BoardSleep, WhoeverLetsAMemberGoOnWakesIt) {
  for (const StormKind kind : {StormKind::down, StormKind::up, StormKind::rooted, StormKind::mixed}) {
    for (const BoardRoom& room : {kLeanBoard, BoardRoom{.slots = 4, .narrow = 2, .bulk = 1024},
                                  BoardRoom{.slots = kMostSlots, .narrow = kMostNarrow, .bulk = 1024}}) {
      for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + ", " + std::to_string(room.slots) +
                     " slots, seed " + std::to_string(seed));
        ASSERT_NO_FATAL_FAILURE(play(room, kind, often(300), seed));
      }
    }
  }
}

}  // namespace
}  // namespace aqueduct::coll::storm
