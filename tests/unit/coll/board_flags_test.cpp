// Who shares a line of the board with whom, and which barriers need atomic additions (requirements HT-08, HT-14, N-68).

#include "coll/schedule/schedule.hpp"
#include "tests/unit/coll/counted_board.hpp"

#include <bit>
#include <set>
#include <vector>

namespace aqueduct::coll::counted {
namespace {

// Whoever writes a flag must not take another one's line away; processors fetch lines in pairs.
TEST(BoardFlags, EachHasAPairOfLinesOfItsOwn) {
  EXPECT_EQ(kBoardLine, 2u * 64);
  EXPECT_GE(alignof(BoardSlot), kBoardLine);
  EXPECT_GE(alignof(BoardHead), kBoardLine);
  EXPECT_GE(alignof(BoardCounts), kBoardLine);
  EXPECT_GE(alignof(BoardTiles), kBoardLine);
  for (const BoardRoom& room : {kLeanBoard, board_within(64 << 10, 0, false), board_within(64 << 10, 0, true),
                                board_within(8 << 20, 0, false)}) {
    ASSERT_GT(room.slots, 0u);
    constexpr Rank kMembers = 5;
    Memory memory({1, kMembers}, room);
    std::set<std::uintptr_t> lines;
    const auto is_alone = [&](const void* at, std::size_t bytes) {
      const auto first = reinterpret_cast<std::uintptr_t>(at);
      EXPECT_EQ(first % kBoardLine, 0u);
      for (std::uintptr_t line = first / kBoardLine; line <= (first + bytes - 1) / kBoardLine; ++line)
        EXPECT_TRUE(lines.insert(line).second) << "two flags share a line";
    };
    for (Rank member = 0; member < kMembers; ++member) {
      const Access access{&memory, member};
      is_alone(&access.head(member), sizeof(BoardHead));
      is_alone(&access.counts(member), sizeof(BoardCounts));
      is_alone(&access.tiles(member), sizeof(BoardTiles));
      for (std::uint32_t slot = 0; slot < room.slots; ++slot)
        is_alone(&access.own(member, room, slot), sizeof(BoardSlot));
      for (std::uint32_t slot = 0; slot < room.narrow; ++slot)
        is_alone(&access.inbox(member, room, slot), sizeof(BoardSlot));
      if (room.bulk == 0) continue;
      for (std::uint32_t slot = 0; slot < room.narrow; ++slot)
        is_alone(access.bulk(member, room, slot), room.bulk);
    }
  }
}

void add_votes(void* to, const void* left, const void* right, std::size_t, void*) {
  std::uint32_t a, b;
  std::memcpy(&a, left, sizeof a);
  std::memcpy(&b, right, sizeof b);
  a += b;
  std::memcpy(to, &a, sizeof a);
}

/// Barriers combine votes, as all-reduces of a word do. Atomic additions and exchanges of one, over all members.
std::uint64_t atomics_of_barrier(Rank members, BoardMethod method, std::uint32_t up) {
  constexpr BoardRoom kRoom{.slots = 8, .narrow = 8, .bulk = 0};
  const BoardCombiner combiner{
      .combine = add_votes,
      .fold = kernels::Fold::of(UserOperator{add_votes, nullptr, sizeof(std::uint32_t), true})};
  Shape shape;
  shape.operation = Operation::all_reduce;
  shape.in = shape.out = Sync::mine;
  shape.ranks = members;
  shape.element = sizeof(std::uint32_t);
  shape.bytes = shape.pitch = shape.element;
  if (method == BoardMethod::tree) shape.parameters = {2, up, 2};
  Calls calls({1, members}, kRoom, *board_algorithm(Operation::all_reduce, method), shape);
  std::uint64_t atomics = 0;
  for (int call = 0; call < 20; ++call) {
    const std::uint64_t before = calls.atomics();
    calls.call(combiner, [](Rank, std::size_t) { return 1u; });
    for (Rank me = 0; me < members; ++me) EXPECT_EQ(calls.out(me)[0], members);
    atomics = calls.atomics() - before;
  }
  return atomics;
}

// Nobody waits behind others for the line of a counter: arrivals are stores of each member to its own line.
TEST(BoardFlags, BarriersByFlagsArriveWithoutAtomicAdditions) {
  for (const Rank members : {2u, 3u, 8u, 13u, 32u}) {
    EXPECT_EQ(atomics_of_barrier(members, BoardMethod::tree, 1), 0u) << members;
    EXPECT_EQ(atomics_of_barrier(members, BoardMethod::flat, 1), 0u) << members;
    EXPECT_EQ(atomics_of_barrier(members, BoardMethod::dissemination, 1), 0u) << members;
    // So the count would find them: these raise a counter for each child, and for each member.
    EXPECT_EQ(atomics_of_barrier(members, BoardMethod::tree, 2), members - 1) << members;
    EXPECT_EQ(atomics_of_barrier(members, BoardMethod::last, 1), members) << members;
  }
}

TEST(BoardFlags, ABarrierByATreeIsAsDeepAsTheLogarithmOfItsMembers) {
  const Algorithm& tree = *board_algorithm(Operation::all_reduce, BoardMethod::tree);
  Shape shape;
  shape.operation = Operation::all_reduce;
  shape.in = shape.out = Sync::mine;
  shape.element = 4;
  shape.bytes = shape.pitch = 4;
  shape.parameters = {2, 1, 2};
  for (shape.ranks = 2; shape.ranks <= 256; ++shape.ranks)
    EXPECT_EQ(Schedule::cost(tree, shape).depth, 2u * std::bit_width(shape.ranks - 1)) << shape.ranks;
}

}  // namespace
}  // namespace aqueduct::coll::counted
