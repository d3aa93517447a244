// The closed forms of requirements HF-01 to HF-17, with the numbers that their source prints.

#include "coll/model/memory_forms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace aqueduct::coll {
namespace {

constexpr LineCost kLinesInside{100, 10, 8};
constexpr LineCost kLinesAcross{400, 30, 20};
MemoryMachine host_of(std::uint32_t domains, std::uint32_t members) {
  return {.inside = kLinesInside, .across = kLinesAcross, .domains = domains, .members = members};
}

// HG-02: the source has n^i, and one round too many.
TEST(MemoryForms, CountsTheTransfersOfEachRound) {
  const auto at_once = [](std::uint32_t round) { return transfers_at_once(6, 2, round, 1); };
  EXPECT_EQ(at_once(0), 3u);
  EXPECT_EQ(at_once(1), 1u);
  EXPECT_EQ(at_once(2), 1u);
  EXPECT_EQ(at_once(3), 0u);
  // However wide the tree is, all but one of the members are read once.
  for (std::uint64_t members = 1; members <= 40; ++members) {
    for (std::uint32_t arity = 2; arity <= 9; ++arity) {
      std::uint64_t all = 0;
      for (std::uint32_t round = 0; round < 7; ++round) {
        for (std::uint32_t child = 1; child < arity; ++child)
          all += transfers_at_once(members, arity, round, child);
      }
      EXPECT_EQ(all, members - 1) << arity;
    }
  }
}

// HF-12, with 3 in place of the 2 of its first round.
TEST(MemoryForms, ATreeOfTwoDomainsOfSix) {
  const LineTime expected{3 * 100 + 400, 3 * 8 + 2 * 10 + 30};
  EXPECT_EQ(reduce_by_tree(host_of(2, 6)), expected);
  EXPECT_EQ(broadcast_in_one_stage(host_of(2, 6)), (LineTime{400, 6 * 20}));
  EXPECT_EQ(all_reduce_by_tree_time(host_of(2, 6), 1000),
            expected.of(1000) + std::min(400 + 120 * 1000, 100 + 5 * 8 * 1000 + 400 + 30 * 1000));
}

TEST(MemoryForms, TilesOfTwoDomainsOfSixAndOfFourOfEight) {
  EXPECT_EQ(reduce_by_tiles(host_of(2, 6)), (LineTime{6 * 100 + 400, 6 * 8 + 20}));
  EXPECT_EQ(reduce_by_tiles(host_of(4, 8)), (LineTime{8 * 100 + 2 * 400, 8 * 8 + 2 * 20}));
  EXPECT_EQ(all_reduce_by_tiles_time(host_of(4, 8), 7),
            reduce_by_tiles(host_of(4, 8)).of(7) + broadcast_time(host_of(4, 8), 7));
}

TEST(MemoryForms, RoundsOfPowersOfTwoAndOfOtherNumbers) {
  EXPECT_EQ(all_reduce_by_rounds(host_of(4, 8)), (LineTime{3 * 100 + 2 * 400, 3 * 8 * 8 + 2 * 20 * 8}));
  // HF-08: four of six take part, and two are helped.
  EXPECT_EQ(all_reduce_by_rounds(host_of(2, 6)),
            (LineTime{2 * 100 + 400 + 2 * 100, 2 * 8 * 4 + 20 * 4 + 2 * 8 * 2}));
  // Plain wrap-around would count some contributions twice (S-3.6): the third domain is helped, too.
  EXPECT_EQ(all_reduce_by_rounds(host_of(3, 4)),
            (LineTime{2 * 100 + 400 + 2 * 400, 2 * 8 * 4 + 20 * 4 + 2 * 20 * 4}));
}

// HG-03: three children are as good as two for 3 and 9 members, and nothing is better than two.
TEST(MemoryForms, TwoChildrenAreNeverWorse) {
  const auto steps = [](std::uint32_t members, std::uint32_t arity) {
    MemoryMachine alone{.inside = {1, 0, 0}, .across = {}, .domains = 1, .members = members};
    return reduce_by_tree(alone, arity).fixed;
  };
  for (std::uint32_t members = 2; members <= 32; ++members) {
    for (std::uint32_t arity = 3; arity <= 8; ++arity)
      EXPECT_LE(steps(members, 2), steps(members, arity)) << members << " members, " << arity;
  }
  EXPECT_EQ(steps(3, 2), steps(3, 3));
  EXPECT_EQ(steps(9, 2), steps(9, 3));
}

// HF-13 and HR-05: 16 KiB, and 14 KiB.
TEST(MemoryForms, TreesAndTilesCrossWhereTheSourceHasMeasured) {
  EXPECT_EQ(tiles_from(kTwoDomainsOfSix), (16u << 10) / 64);
  EXPECT_EQ(tiles_from(kFourDomainsOfEight), (14u << 10) / 64);
  for (const MemoryMachine& machine : {kTwoDomainsOfSix, kFourDomainsOfEight}) {
    const std::uint64_t lines = tiles_from(machine);
    EXPECT_LE(all_reduce_by_tiles_time(machine, lines), all_reduce_by_tree_time(machine, lines));
    EXPECT_GT(all_reduce_by_tiles_time(machine, lines - 1), all_reduce_by_tree_time(machine, lines - 1));
  }
}

// HT-09: nothing is a constant of the source.
TEST(MemoryForms, TheCrossingMovesWithTheMachine) {
  for (const std::uint64_t first : {8'000'000u, 26'496'000u, 61'000'000u, 200'000'000u}) {
    MemoryMachine machine = kTwoDomainsOfSix;
    machine.inside.first = first;
    const double gain = 3 * 1.5e6 + 2 * 2e6 + 2.4105e6 - 6 * 1.5e6 - 1.6e6;
    EXPECT_EQ(tiles_from(machine), std::ceil(3.0 * static_cast<double>(first) / gain));
  }
  MemoryMachine machine = kTwoDomainsOfSix;
  machine.across.shared = machine.across.each;  // then tiles gain nothing across
  EXPECT_EQ(tiles_from(machine), kTilesNever);
  machine.inside.shared = 100'000;
  EXPECT_NE(tiles_from(machine), kTilesNever);
}

// HR-07.
TEST(MemoryForms, OneStageIsBestOnOneMachineAndTwoOnTheOther) {
  for (std::uint64_t lines = 1; lines <= 65536; lines *= 2) {
    EXPECT_EQ(broadcast_time(kTwoDomainsOfSix, lines), broadcast_in_one_stage(kTwoDomainsOfSix).of(lines));
    EXPECT_EQ(broadcast_time(kFourDomainsOfEight, lines),
              broadcast_in_two_stages(kFourDomainsOfEight).of(lines));
    EXPECT_NE(broadcast_in_one_stage(kFourDomainsOfEight).of(lines),
              broadcast_in_two_stages(kFourDomainsOfEight).of(lines));
  }
}

// HF-14: 306.7 ns. Of HF-15 the latencies are not printed; its terms are those of the sheet.
TEST(MemoryForms, OneLine) {
  EXPECT_NEAR(one_line_all_reduce({.own = 1.2, .inside = 28.5, .across = 105.2}, 2, 6, false), 306.7, 1e-9);
  const LineLatencies four{.own = 1, .inside = 10, .across = 100, .distant = 1000};
  EXPECT_EQ(one_line_all_reduce(four, 4, 8, true), 3 * (10 + 2) + 2 * (100 + 2) + (1000 + 1) + (10 + 1));
}

// HF-16 and HR-10. tests/unit/coll/traffic_test.cpp counts what the algorithms do.
TEST(MemoryForms, LinesThatCross) {
  const Crossings counts = crossings(host_of(4, 8));
  EXPECT_EQ(counts.reduce_by_tree, 3u);
  EXPECT_EQ(counts.reduce_by_tiles, 3u);
  EXPECT_EQ(counts.reduce_by_any_tiles, 24u);
  EXPECT_EQ(counts.all_reduce_by_rounds, 64u);
  EXPECT_EQ(counts.broadcast_in_one_stage, 24u);
  EXPECT_EQ(counts.broadcast_in_two_stages, 3u);
  EXPECT_EQ(counts.blocks_as_they_are, 32u * 24);
  EXPECT_EQ(counts.blocks_by_domains, 32u * 3);
  EXPECT_EQ(counts.packed_blocks, 12u);
  EXPECT_EQ(crossings(host_of(1, 8)).blocks_by_domains, 0u);
}

// HF-17, whose figures are multiples of p. tests/unit/coll/board_counts_test.cpp counts what the algorithms do.
TEST(MemoryForms, BytesThatAreTouched) {
  const Touches counts = touches(host_of(4, 8), 11);
  EXPECT_EQ(counts.tiles, 3u * 32 - 1);
  EXPECT_EQ(counts.domain_tiles, 3u * 32 + 7);
  EXPECT_EQ(counts.tree, 5u * 31);
  EXPECT_EQ(counts.tree_in_passes, 3u * 31 + 22);
  EXPECT_EQ(counts.copied_tiles, 5u * 32 + 1);
  EXPECT_EQ(counts.copied_tree, 7u * 32 - 3 + 22);
  EXPECT_EQ(counts.messages, 11u * 31);
  EXPECT_EQ(counts.message_rounds, 7u * 32 * 5);
  for (std::uint32_t members = 2; members <= 128; ++members) {
    for (std::uint64_t parents = 1; parents < members; ++parents) {
      const std::uint64_t tree = touches(host_of(1, members), parents).copied_tree;
      EXPECT_LE(touches(host_of(1, members), parents).tree_in_passes, touches(host_of(1, members), 0).tree);
      EXPECT_GE(tree, 7 * members - 1);
      EXPECT_LT(tree, 9 * members);
    }
  }
  EXPECT_EQ(touches(host_of(1, 8), 1).domain_tiles, touches(host_of(1, 8), 1).tiles);
  EXPECT_EQ(touches(host_of(1, 1), 0).tiles, 0u);
}

TEST(MemoryForms, BlocksByDomainsAreReadAsOftenAndCrossLess) {
  EXPECT_EQ(blocks_as_they_are(host_of(2, 6)), (LineTime{5 * 100 + 6 * 400, 5 * 48 + 6 * 120}));
  EXPECT_EQ(blocks_by_domains(host_of(2, 6)), (LineTime{10 * 100 + 400, 10 * 48 + 120}));
  EXPECT_EQ(blocks_as_they_are(host_of(1, 6)), blocks_by_domains(host_of(1, 6)));
}

TEST(MemoryForms, OfOneMemberOrOneDomain) {
  EXPECT_EQ(reduce_by_tree(host_of(1, 1)), LineTime{});
  EXPECT_EQ(broadcast_time(host_of(1, 1), 5), 0u);
  EXPECT_EQ(broadcast_in_two_stages(host_of(4, 1)), (LineTime{400, 30}));
  EXPECT_EQ(broadcast_in_one_stage(host_of(1, 8)), broadcast_in_two_stages(host_of(1, 8)));
  EXPECT_EQ(broadcast_in_one_stage(host_of(1, 1)), LineTime{});
}

// A link's share is no faster than a reader that has it alone.
TEST(MemoryForms, OneReaderIsNoFasterThanItReads) {
  EXPECT_EQ(broadcast_in_one_stage(host_of(1, 2)), (LineTime{100, 10}));
  EXPECT_EQ(broadcast_in_one_stage(host_of(2, 1)), (LineTime{400, 30}));
  EXPECT_EQ(broadcast_in_two_stages(host_of(2, 2)), (LineTime{100 + 400, 10 + 30}));
  // Each of two members reads half of the lines across; one reads them all.
  EXPECT_EQ(reduce_by_tiles(host_of(2, 2)), (LineTime{2 * 100 + 400, 2 * 8 + 20}));
  EXPECT_EQ(reduce_by_tiles(host_of(2, 1)), (LineTime{100 + 400, 10 + 30}));
  EXPECT_EQ(all_reduce_by_rounds(host_of(2, 1)), (LineTime{400, 30}));
  // Two of three go in rounds, and one gives its block before and gets the result behind.
  EXPECT_EQ(all_reduce_by_rounds(host_of(1, 3)), (LineTime{100 + 2 * 100, 2 * 8 + 2 * 10}));
}

// Whoever reads, reads at least once, however many share its link.
TEST(MemoryForms, NothingIsFasterThanAReaderAlone) {
  for (std::uint32_t domains = 1; domains <= 4; ++domains) {
    for (std::uint32_t members = 1; members <= 9; ++members) {
      if (domains * members == 1) continue;
      const MemoryMachine host = host_of(domains, members);
      const std::uint64_t alone = domains > 1 ? kLinesAcross.each : kLinesInside.each;
      SCOPED_TRACE(testing::Message() << domains << " x " << members);
      EXPECT_GE(broadcast_in_one_stage(host).each, alone);
      EXPECT_GE(broadcast_in_two_stages(host).each, alone);
      EXPECT_GE(broadcast_by_tree(host, 2).each, alone);
      EXPECT_GE(all_reduce_by_rounds(host).each, alone);
      EXPECT_GE(reduce_by_tree(host).each, alone);
      EXPECT_GE(blocks_as_they_are(host).each, alone);
      EXPECT_GE(blocks_by_domains(host).each, alone);
      EXPECT_GE(reduce_by_tiles(host).each, kLinesInside.each);
    }
  }
}

}  // namespace
}  // namespace aqueduct::coll
