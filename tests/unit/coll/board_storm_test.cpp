// Threads as members of a board, with calls of all kinds in a row: wrong results, and under the thread sanitizer races.

#include "core/hidden_layout.hpp"
#include "tests/unit/coll/board_storm.hpp"
#include "topology/placement.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace aqueduct::coll::storm {
namespace {

void play(const BoardRoom& room, std::uint32_t calls, StormKind kind = StormKind::mixed) {
  const auto memory = std::make_unique<StormMemory>();
  ASSERT_LE(room.bytes(), memory->part[0].size());
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  // Two domains, whose members take turns.
  const std::array<Rank, kMembers> all{0, 1, 2, 3};
  const std::vector<topology::Level> levels{{"host", 1, false}, {"numa", 2, true}};
  const auto placement = topology::Placement::of(
      all, levels, [](Rank member, std::size_t level) { return level == 0 ? 0 : member % 2; });
  std::vector<std::thread> members;
  for (Rank me = 0; me < kMembers; ++me) {
    members.emplace_back([&, me] {
      BoardOf<StormAccess> board(StormAccess{memory.get()}, room, kMembers, me);
      const BoardCombiner combiner = storm_combiner();
      for (std::uint32_t number = 1; number <= calls; ++number) {
        const StormCall call(number, room, kind);
        BoardPlan plan;
        make_plan(plan, *call.algorithm, call.shape, me, room, &placement);
        if (goes_down_a_tree(plan.method)) {
          plan.tile = 4096;  // several pieces, as of longer blocks
          count_pieces(plan);
        }
        const std::uint64_t count = call.shape.bytes / 4;
        std::vector<std::uint32_t> in(kMembers * count + 1);
        std::vector<std::uint32_t> out(kMembers * count + 1);
        for (std::uint64_t i = 0; i < in.size(); ++i) in[i] = StormCall::value(number, me, i);
        BoardOp op;
        op.plan = &plan;
        op.combiner = &combiner;
        op.in = reinterpret_cast<const std::byte*>(in.data());
        op.out = reinterpret_cast<std::byte*>(out.data());
        op.mark = number;
        op.notes = {call.note(number, me, in.data(), true), call.note(number, me, out.data(), false)};
        board.begin(op);
        while (!board.step(op)) {
          std::this_thread::yield();
          if (std::chrono::steady_clock::now() > limit) {
            ADD_FAILURE() << call.algorithm->name << ", call " << number << ", member " << me
                          << ": too slow, or hangs";
            return;
          }
        }
        for (Rank b = 0; b < blocks_out(call.shape, me); ++b) {
          for (std::uint64_t i = 0; i < count; ++i) {
            EXPECT_TRUE(call.is_right(number, me, b, i, out[b * count + i]))
                << call.algorithm->name << ", call " << number << ", member " << me << ", block " << b;
          }
        }
      }
    });
  }
  for (std::thread& member : members) member.join();
}

constexpr BoardRoom kManySlots{.slots = kMostSlots, .narrow = kMostNarrow, .bulk = 1024};

TEST(BoardStorm, MixedCallsInARowAreRightWithFewSlots) { play(kLeanBoard, 500); }

TEST(BoardStorm, MixedCallsInARowAreRightWithManySlots) { play(kManySlots, 500); }

TEST(BoardStorm, MembersThatRunAheadOverwriteNothing) {
  for (const StormKind kind : {StormKind::down, StormKind::up, StormKind::rooted}) {
    play(kManySlots, often(1000), kind);
    play({.slots = 4, .narrow = 2, .bulk = 1024}, often(300), kind);
    play({.slots = kMostSlotsOfCrowded, .narrow = kMostNarrow, .bulk = 1024}, often(1000), kind);
  }
}

TEST(BoardRooms, AreTheSameForEqualSizesAndLeaveWhatIsNeeded) {
  EXPECT_EQ(board_within(1024, 1024, false).slots, 0u);
  EXPECT_EQ(board_within(1024 + taken_by(kLeanBoard), 1024, false), kLeanBoard);
  for (std::uint64_t bytes = 1024; bytes <= 5 << 20; bytes += 1024) {
    for (const bool crowded : {false, true}) {
      const BoardRoom room = board_within(bytes, 1024, crowded);
      EXPECT_LE(taken_by(room) + 1024, bytes + (room.slots == 0 ? 1024 : 0));
      EXPECT_LE(taken_by(room), most_of_board(bytes));
      EXPECT_EQ(taken_by(room) % 64, 0u);
    }
  }
  EXPECT_EQ(board_within(2 << 20, 1024, false),
            (BoardRoom{.slots = kMostSlots, .narrow = kMostNarrow, .bulk = 32768}));
  EXPECT_EQ(board_within(2 << 20, 1024, true),
            (BoardRoom{.slots = kMostSlotsOfCrowded, .narrow = kMostNarrow, .bulk = 32768}));
  // The team of all ranks of a host, with the default settings.
  EXPECT_EQ(board_within((2 << 20) + core::HiddenSizes::kBoard, 1024, true),
            (BoardRoom{.slots = kMostSlotsOfCrowded, .narrow = kMostNarrow, .bulk = kMostBulk}));
  // A team's usual place: what is longer than a line comes first, then lines for more calls.
  EXPECT_EQ(board_within(64 << 10, 1024, false),
            (BoardRoom{.slots = 32, .narrow = kMostNarrow, .bulk = 1024}));
}

}  // namespace
}  // namespace aqueduct::coll::storm
