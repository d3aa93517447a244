// Which members of a board wait for a turn on the processor of another one.

#include "tests/unit/coll/board_storm.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace aqueduct::coll::storm {
namespace {

constexpr std::uint64_t kHere = 1;
constexpr std::uint64_t kThere = 2;

/// All members, in barriers that go by `flags-last`. Each call has one movement.
class BoardTurns : public ::testing::Test {
 protected:
  BoardTurns() {
    Shape shape;
    shape.ranks = kMembers;
    shape.operation = Operation::all_reduce;
    shape.element = 4;
    shape.in = shape.out = Sync::mine;
    shape.bytes = shape.pitch = 4;
    for (Rank r = 0; r < kMembers; ++r) {
      boards_.push_back(
          std::make_unique<BoardOf<StormAccess>>(StormAccess{memory_.get()}, room_, kMembers, r));
      make_plan(plans_[r], *board_algorithm(Operation::all_reduce, BoardMethod::last), shape, r, room_);
    }
  }

  BoardOf<StormAccess>& board(Rank r) { return *boards_[r]; }
  /// The member begins its call of that number, on a processor.
  void begin(Rank r, std::uint32_t call, std::uint64_t processor) {
    BoardOp& op = ops_[r];
    op = {};
    op.plan = &plans_[r];
    op.combiner = &combiner_;
    op.in = reinterpret_cast<const std::byte*>(&words_[r]);
    op.out = reinterpret_cast<std::byte*>(&words_[r]);
    op.mark = op.call = call;
    board(r).runs_on(processor);
    board(r).say(call, call);
    board(r).begin(op);
  }
  bool step(Rank r) { return board(r).step(ops_[r]); }
  /// Nobody else has to do anything before.
  bool ends(Rank r) {
    for (int i = 0; i < 4; ++i) {
      if (step(r)) return true;
    }
    return false;
  }
  bool shares_with_one_behind(Rank r) { return board(r).shares_processor_with_one_behind(ops_[r]); }

  const BoardRoom room_{.slots = 8, .narrow = 8, .bulk = 0};
  std::unique_ptr<StormMemory> memory_ = std::make_unique<StormMemory>();
  std::vector<std::unique_ptr<BoardOf<StormAccess>>> boards_;
  std::array<BoardPlan, kMembers> plans_;
  std::array<BoardOp, kMembers> ops_;
  std::array<std::uint32_t, kMembers> words_{1, 1, 1, 1};
  BoardCombiner combiner_ = storm_combiner();
};

TEST_F(BoardTurns, MembersThatHaveSaidNothingMayBeHere) {
  begin(0, 1, kHere);
  EXPECT_FALSE(step(0));
  EXPECT_TRUE(shares_with_one_behind(0)) << "nobody knows where the others run";
}

TEST_F(BoardTurns, OnlyThoseBehindOnTheSameProcessorAreWaitedFor) {
  const std::array where{kHere, kHere, kThere, kThere};
  for (std::uint32_t call = 1; call <= 20; ++call) {
    begin(0, call, where[0]);
    EXPECT_FALSE(step(0));
    EXPECT_TRUE(shares_with_one_behind(0)) << "member 1 has not called, call " << call;
    begin(1, call, where[1]);
    EXPECT_FALSE(step(1));
    if (call > 1) {  // before, nobody knew where members 2 and 3 run
      EXPECT_FALSE(shares_with_one_behind(0)) << "members 2 and 3 run elsewhere, call " << call;
      EXPECT_FALSE(shares_with_one_behind(1)) << "members 2 and 3 run elsewhere, call " << call;
    }
    begin(2, call, where[2]);
    EXPECT_FALSE(step(2));
    if (call > 1) {
      EXPECT_TRUE(shares_with_one_behind(2)) << "member 3 has not called, call " << call;
    }
    begin(3, call, where[3]);
    EXPECT_TRUE(ends(3)) << "it is the last one";
    for (Rank r = 0; r < 3; ++r) EXPECT_TRUE(ends(r));
  }
}

TEST_F(BoardTurns, OneThatHasNotSeenTheEndOfTheMovementBeforeIsBehind) {
  for (Rank r = 0; r < kMembers; ++r) begin(r, 1, kHere);
  for (Rank r = 0; r < kMembers; ++r) ends(r);
  for (Rank r = 0; r + 1 < kMembers; ++r) EXPECT_TRUE(ends(r));
  // All have called, but member 1 takes long to end its first call.
  for (const Rank r : {0u, 2u, 3u}) begin(r, 2, r == 0 ? kHere : kThere);
  board(1).say(2, 2);
  EXPECT_FALSE(step(0));
  EXPECT_FALSE(shares_with_one_behind(0)) << "member 1 has ended call 1 and begun call 2";
  memory_->part[1].fill(std::byte{0});
  board(1).runs_on(kHere);
  board(1).say(2, 2);
  EXPECT_TRUE(shares_with_one_behind(0)) << "member 1 has not ended call 1";
}

TEST_F(BoardTurns, AMemberThatMovesIsFoundWhereItCalledLast) {
  for (std::uint32_t call = 1; call <= 2; ++call) {
    for (Rank r = 0; r < kMembers; ++r) begin(r, call, r == 0 || call == 2 ? kHere : kThere);
    for (Rank r = 0; r < kMembers; ++r) ends(r);
    for (Rank r = 0; r + 1 < kMembers; ++r) EXPECT_TRUE(ends(r));
  }
  begin(0, 3, kHere);
  EXPECT_FALSE(step(0));
  EXPECT_TRUE(shares_with_one_behind(0));
  board(0).runs_on(kThere);
  EXPECT_FALSE(shares_with_one_behind(0)) << "all others made call 2 on the other processor";
}

}  // namespace
}  // namespace aqueduct::coll::storm
