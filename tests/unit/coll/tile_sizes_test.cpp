// Requirements H-08, S-6 and HT-06: blocks are cut by the caches.

#include "coll/algorithms/algorithms.hpp"
#include "coll/shared/board_plan.hpp"
#include "coll/shared/board_stream.hpp"
#include "coll/shared/tile_sizes.hpp"

#include <gtest/gtest.h>

namespace aqueduct::coll {
namespace {

using topology::Caches;

constexpr std::uint64_t kKibi = 1024;
constexpr std::uint64_t kMebibyte = 1024 * kKibi;
constexpr Caches kMeasured{48 * kKibi, kMebibyte, 32 * kMebibyte, 2};

TEST(TileSizes, WithoutKnowledgeAreThoseOfTheMachineOnWhichTheyWereMeasured) {
  EXPECT_EQ(tile_sizes({}, 2), TileSizes{});
  EXPECT_EQ(tile_sizes(kMeasured, 2), TileSizes{});
  EXPECT_EQ(tile_sizes(kMeasured, 64), TileSizes{}) << "two share a last cache";
}

TEST(TileSizes, FollowTheSecondCache) {
  for (std::uint64_t second = 256 * kKibi; second <= 4 * kMebibyte; second *= 2)
    EXPECT_EQ(tile_sizes({32 * kKibi, second, 256 * kMebibyte, 2}, 2).most, second / 16);
}

TEST(TileSizes, AllThatAStripUsesFitsIntoHalfOfTheLastCache) {
  for (const std::uint32_t sharing : {1u, 2u, 6u, 8u, 16u, 48u, 96u}) {
    for (const Rank members : {2u, 8u, 48u, 128u}) {
      for (const std::uint64_t last : {2 * kMebibyte, 12 * kMebibyte, 32 * kMebibyte, 512 * kMebibyte}) {
        const std::uint64_t most = tile_sizes({32 * kKibi, kMebibyte, last, sharing}, members).most;
        const std::uint64_t together = std::min<std::uint64_t>(sharing, members);
        EXPECT_TRUE(most == 4096 || (2 * together + 1) * together * most <= last / 2)
            << sharing << " of " << members << " share " << last << ": " << most;
      }
    }
  }
}

TEST(TileSizes, ArePartOfThePlan) {
  for (const BoardMethod method : {BoardMethod::tiles, BoardMethod::claims}) {
    Shape shape;
    shape.operation = Operation::all_reduce;
    shape.ranks = 8;
    shape.element = 4;
    shape.bytes = shape.pitch = 4 * kMebibyte;
    BoardPlan plan;
    const BoardRoom room = board_within(2 << 20, 1024, false);
    make_plan(plan, *board_algorithm(shape.operation, method), shape, 0, room, nullptr,
              {.at_once = 4096, .most = 16384});
    EXPECT_EQ(plan.tile, 16384u);
    EXPECT_EQ(plan.at_once, 4096u);
    make_plan(plan, *board_algorithm(shape.operation, method), shape, 0, room);
    EXPECT_EQ(plan.tile, 65536u);
    EXPECT_EQ(plan.at_once, 8192u);
  }
}

// A block of 8 TiB goes through slots of 1 KiB in 2^33 pieces, and each has a number.
TEST(TileSizes, BlocksOfAnyLengthHaveAsManyPiecesAsTheyNeed) {
  Shape shape;
  shape.operation = Operation::broadcast;
  shape.ranks = 4;
  shape.element = 1;
  shape.bytes = shape.pitch = std::uint64_t{8} << 40;
  const BoardRoom room{.slots = 8, .narrow = 4, .bulk = 1024};
  BoardPlan plan;
  make_plan(plan, *board_algorithm(shape.operation, BoardMethod::mapped), shape, 0, room);
  EXPECT_EQ(plan.through, (shape.bytes - 1) / plan.piece + 1);
  EXPECT_GE(plan.pieces, plan.through);
  const BoardPiece last = piece_of(plan, plan.through - 1);
  EXPECT_EQ(last.offset + last.bytes, shape.bytes);
}

}  // namespace
}  // namespace aqueduct::coll
