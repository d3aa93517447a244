// What the table chooses on a host whose members are in several domains of memory.

#include "tests/unit/coll/table_choices.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace aqueduct::coll::table_tests {
namespace {

// Long blocks, where members have a processor each, and nobody asks for what partial results cannot give.
TEST(Table, KeepsToDomainsOfMemory) {
  const auto bound = [](std::uint32_t domains) {
    return TeamTraits{.ranks = 16,
                      .board = {.slots = kMostSlots, .narrow = kMostNarrow, .bulk = 32768},
                      .domains = {.count = domains, .smallest = 16 / domains, .largest = 16 / domains}};
  };
  EXPECT_EQ(chosen(shape_of(Operation::broadcast, 16, kMebi), bound(2)), "mapped");
  EXPECT_EQ(chosen(shape_of(Operation::broadcast, 16, kMebi), bound(4)), "mapped-domains");
  EXPECT_EQ(chosen(shape_of(Operation::broadcast, 16, 8192), bound(4)), "mapped-domains");
  EXPECT_EQ(chosen(shape_of(Operation::all_gather, 16, kMebi), bound(2)), "mapped-domain-blocks");
  EXPECT_EQ(chosen(shape_of(Operation::all_gather, 16, 8192), bound(4)), "mapped-domain-blocks");
  EXPECT_EQ(chosen(shape_of(Operation::all_to_all, 16, kMebi), bound(4)), "mapped");
  // A slot has strips of 8 KiB for up to four other domains.
  EXPECT_EQ(chosen(shape_of(Operation::reduce_scatter, 16, kMebi), bound(4)), "mapped-domain-tiles");
  EXPECT_EQ(chosen(shape_of(Operation::reduce_scatter, 16, kMebi), bound(8)), "mapped-tiles");
  for (const Operation operation : {Operation::reduce, Operation::all_reduce, Operation::reduce_scatter}) {
    EXPECT_EQ(chosen(shape_of(operation, 16, kMebi), bound(1)), "mapped-tiles");
    EXPECT_EQ(chosen(shape_of(operation, 16, kMebi), bound(2)), "mapped-domain-tiles");
    const std::string_view shorter =
        operation == Operation::reduce_scatter ? "mapped-tiles" : "flags-tree:radix=2,up=1,down=2";
    EXPECT_EQ(chosen(shape_of(operation, 16, 8192), bound(2)), shorter);
    Shape exact = shape_of(operation, 16, kMebi);
    exact.order = Order::exact;
    EXPECT_EQ(chosen(exact, bound(2)), "mapped-tiles");
  }
  // A member that is alone in its domain would have to combine all that goes there.
  TeamTraits uneven = bound(2);
  uneven.domains.smallest = 1;
  uneven.domains.largest = 15;
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 16, kMebi), uneven), "mapped-tiles");
  // In slots of 1 KiB a reduce would wait for each of many strips. An all-reduce uses no slots.
  TeamTraits short_slots = bound(2);
  short_slots.board.bulk = 1024;
  EXPECT_EQ(chosen(shape_of(Operation::reduce, 16, kMebi), short_slots), "mapped-tiles");
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 16, kMebi), short_slots), "mapped-domain-tiles");
  Shape ordered = shape_of(Operation::all_reduce, 16, kMebi);
  ordered.commutative = false;
  EXPECT_EQ(chosen(ordered, bound(2)), "mapped-tiles");
  TeamTraits side_by_side = bound(2);
  side_by_side.domains.in_team_order = true;
  EXPECT_EQ(chosen(ordered, side_by_side), "mapped-domain-tiles");
  TeamTraits crowded = bound(4);
  crowded.crowded = true;
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 16, kMebi), crowded), "mapped-claims");
}

}  // namespace
}  // namespace aqueduct::coll::table_tests
