// What the table chooses on networks and sockets, by the length of blocks and the number of members.

#include "tests/unit/coll/table_choices.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace aqueduct::coll::table_tests {
namespace {

// Of blocks that differ, by the longest of them.
TEST(Table, PassesShortBlocksOn) {
  const auto among = [](Rank ranks, std::uint64_t longest, bool crowded) {
    Shape shape = shape_of(Operation::all_gather_v, ranks, longest);
    shape.element = 1;
    return chosen(shape, {.ranks = ranks, .crowded = crowded});
  };
  EXPECT_EQ(among(16, 2048, false), "circulant");
  EXPECT_EQ(among(16, 2049, false), "slots");
  EXPECT_EQ(among(4, 8, false), "slots");
  EXPECT_EQ(among(4, 16'384, true), "circulant");
  EXPECT_EQ(among(4, 16'385, true), "slots");
  EXPECT_EQ(among(2000, 8, true), "slots");
}

TEST(Table, SendsFewMessagesWhereMembersShareProcessors) {
  const auto crowded = [](Rank ranks) {
    return TeamTraits{.ranks = ranks, .one_host = true, .mapped = false, .crowded = true};
  };
  EXPECT_EQ(chosen(shape_of(Operation::all_to_all, 4, 64 << 10), crowded(4)), "pairwise:window=3");
  EXPECT_EQ(chosen(shape_of(Operation::all_to_all, 8, 64 << 10), crowded(8)), "pairwise:window=1");
  EXPECT_EQ(chosen(shape_of(Operation::all_to_all, 4, 64 << 10), network(4)), "pairwise:window=1");
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 8, 8), crowded(8)), "tree:radix=8");
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 8, 32 << 10), crowded(8)), "tree:radix=2");
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 8, kMebi), crowded(8)).substr(0, 9), "circulant");
  EXPECT_EQ(chosen(shape_of(Operation::all_gather, 8, 1 << 10), crowded(8)), "doubling");
  EXPECT_EQ(chosen(shape_of(Operation::reduce_scatter, 8, 8), crowded(8)), "circulant");
  EXPECT_EQ(chosen(shape_of(Operation::broadcast, 8, kMebi), crowded(8)).substr(0, 16), "k-nomial:radix=4");
  // An all-reduce between two passes: 2 (P - 1) messages for each of the three.
  const Choice choice =
      TableChooser().choose(shape_of(Operation::all_reduce, 8, 8), crowded(8), usual_layout(8));
  ASSERT_NE(choice.algorithm, nullptr);
  EXPECT_EQ(Schedule::cost(*choice.algorithm, choice.shape).messages, 3u * 2 * 7);
  // Over several hosts, or with a processor for each, rounds count.
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 4, 8), network(4)), "multiplying:radix=4");
}

TEST(Table, TakesFewRoundsForShortBlocks) {
  EXPECT_EQ(chosen(shape_of(Operation::barrier, 3, 0), network(3)), "dissemination:radix=3");
  EXPECT_EQ(chosen(shape_of(Operation::barrier, 64, 0), network(64)), "dissemination:radix=4");
  EXPECT_EQ(chosen(shape_of(Operation::broadcast, 64, 8), network(64)), "k-nomial:radix=4,segments=1");
  EXPECT_EQ(chosen(shape_of(Operation::all_gather, 17, 8), network(17)), "bruck:radix=2");
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 4, 8), network(4)), "multiplying:radix=4");
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 7, 8), network(7)), "direct");
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 27, 8), network(27)), "multiplying:radix=3");
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 32, 8), network(32)), "multiplying:radix=2");
}

TEST(Table, TakesFewBytesForLongBlocks) {
  EXPECT_EQ(chosen(shape_of(Operation::broadcast, 64, kMebi), network(64)).substr(0, 9), "circulant");
  EXPECT_EQ(chosen(single(shape_of(Operation::all_gather, 64, kMebi)), network(64)), "direct");
  EXPECT_EQ(chosen(shape_of(Operation::all_gather, 64, kMebi), network(64)), "circulant");
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 17, kMebi), network(17)), "circulant");
  EXPECT_EQ(chosen(shape_of(Operation::scan, 4, kMebi), network(4)).substr(0, 5), "chain");
}

// A block must be long enough to be worth the messages that say where it is to go.
TEST(Table, WritesToOutputsThatAreAnnouncedOnlyIfBlocksAreLong) {
  const Shape local = shape_of(Operation::gather, 8, 1024);
  EXPECT_EQ(chosen(single(local), network(8)), "direct");
  EXPECT_NE(chosen(local, network(8)), "direct");
  EXPECT_EQ(chosen(shape_of(Operation::gather, 8, kMebi), network(8)), "direct");
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 2, kMebi), network(2)), "parts");
}

// Over sockets a copy costs less than an answer from a process that may sleep.
TEST(Table, DoesNotAskForShortBlocksOverSockets) {
  TeamTraits sockets = network(8);
  sockets.sockets = true;
  for (const Operation operation :
       {Operation::scatter, Operation::gather, Operation::all_gather, Operation::all_to_all}) {
    SCOPED_TRACE(static_cast<int>(operation));
    const std::uint64_t least = 256 << 10;
    Shape shape = shape_of(operation, 8, least);
    shape.in = Sync::mine;
    EXPECT_NE(chosen(shape, sockets), "direct") << "its owner would have to say where";
    EXPECT_EQ(chosen(single(shape), sockets), "direct");
    shape.bytes = shape.pitch = least - kElement;
    EXPECT_NE(chosen(single(shape), sockets), "direct") << "its owner would have to say that it has called";
    EXPECT_EQ(chosen(single(shape), network(8)), "direct");
    shape.in = Sync::all;
    EXPECT_EQ(chosen(single(shape), sockets), "direct") << "nobody has to say anything";
  }
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 2, 16 << 10), sockets_of_two()), "multiplying:radix=2");
  EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 2, kMebi), sockets_of_two()), "circulant");
  EXPECT_EQ(chosen(shape_of(Operation::all_gather, 2, kMebi), sockets_of_two()), "ring");
}

TEST(Table, KeepsTheOrderThatIsAskedFor) {
  Shape shape = shape_of(Operation::all_reduce, 16, 65'536);
  shape.commutative = false;
  EXPECT_EQ(chosen(shape, network(16)), "halving");
  shape.order = Order::exact;
  EXPECT_EQ(chosen(shape, network(16)), "tree:radix=16");
}

TEST(Table, ReducesLongVectorsByHalvingWhereMessagesAreCheap) {
  TeamTraits apart = network(16);
  EXPECT_EQ(chosen(shape_of(Operation::reduce, 16, 32 << 10), apart), "halving");
  EXPECT_EQ(chosen(shape_of(Operation::reduce, 16, (32 << 10) - 8), apart), "k-nomial:radix=2");
  EXPECT_EQ(chosen(shape_of(Operation::reduce, 12, 64 << 10), network(12)), "k-nomial:radix=2");
  EXPECT_EQ(chosen(shape_of(Operation::reduce, 4, 32 << 10), network(4)), "k-nomial:radix=2");
  EXPECT_EQ(chosen(shape_of(Operation::reduce, 8, 256 << 10), network(8)).rfind("chain", 0), 0u);
  TeamTraits crowded{.ranks = 16, .mapped = false, .crowded = true};
  EXPECT_EQ(chosen(shape_of(Operation::reduce, 16, 64 << 10), crowded), "k-nomial:radix=2");
}

}  // namespace
}  // namespace aqueduct::coll::table_tests
