#include "coll/model/processors.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace aqueduct::coll {
namespace {

using Ranks = std::vector<Rank>;

/// Hosts of eight ranks with so many processors, which stay 5 with each rank that waits.
Machine host_with(std::uint32_t cores) {
  Machine machine;
  machine.host = 8;
  machine.cores = cores;
  machine.turn = 5;
  return machine;
}
/// Whose look begins.
Ranks given_out(Processors& processors, Rank of, Picoseconds now) {
  Ranks out;
  processors.give_out(
      of, now, [&](Rank rank) { out.push_back(rank); }, [](Picoseconds, Rank) {});
  return out;
}
/// When the processor of this rank comes to one that has asked, which it has not yet.
Picoseconds comes(Processors& processors, Rank of, Picoseconds now) {
  Picoseconds at = 0;
  processors.give_out(
      of, now, [](Rank rank) { ADD_FAILURE() << "given to " << rank; },
      [&](Picoseconds when, Rank) { at = when; });
  return at;
}

TEST(Processors, AreSharedIfThereAreFewerThanRanks) {
  EXPECT_TRUE(Processors(host_with(7), 8).are_shared());
  EXPECT_FALSE(Processors(host_with(8), 8).are_shared());
  EXPECT_FALSE(Processors(host_with(0), 8).are_shared());
}

TEST(Processors, GoRoundTheRanksThatShareThem) {
  const Machine machine = host_with(2);
  Processors processors(machine, 8);
  processors.ask(2, 10);
  EXPECT_EQ(given_out(processors, 0, 10), Ranks{2}) << "nobody has had it";
  processors.ask(0, 12);
  processors.ask(3, 13);
  EXPECT_EQ(given_out(processors, 0, 13), Ranks{}) << "2 has it";
  processors.give_back(2, 20);
  EXPECT_EQ(comes(processors, 0, 20), 25u) << "2 looks on until then";
  EXPECT_EQ(given_out(processors, 0, 25), Ranks{3}) << "which is next, though 0 asked first";
  processors.give_back(3, 40);
  EXPECT_EQ(given_out(processors, 0, 45), Ranks{0});
}

TEST(Processors, AreWithARankAgainAfterARound) {
  const Machine machine = host_with(2);
  Processors processors(machine, 8);
  processors.ask(1, 0);
  EXPECT_EQ(given_out(processors, 1, 0), Ranks{1});
  processors.give_back(1, 100);
  processors.ask(1, 104);
  EXPECT_EQ(given_out(processors, 1, 104), Ranks{1}) << "it looks on";
  processors.give_back(1, 104);
  processors.ask(1, 111);
  EXPECT_EQ(comes(processors, 1, 111), 124u) << "after 2, 3 and 0";
  EXPECT_EQ(given_out(processors, 1, 124), Ranks{1});
  processors.give_back(1, 124);
  processors.ask(1, 147);
  EXPECT_EQ(given_out(processors, 1, 147), Ranks{1}) << "with it from 144 to 149";
}

TEST(Processors, GoToWhoAskedFirstIfTheyTakeNoTimeToGoRound) {
  Machine machine = host_with(1);
  machine.turn = 0;
  Processors processors(machine, 8);
  processors.ask(6, 10);
  processors.ask(7, 12);
  processors.ask(2, 12);
  EXPECT_EQ(given_out(processors, 0, 12), Ranks{6});
  processors.give_back(6, 20);
  EXPECT_EQ(given_out(processors, 0, 20), Ranks{2}) << "at one time the lower slot";
  processors.give_back(2, 20);
  EXPECT_EQ(given_out(processors, 0, 20), Ranks{7});
}

TEST(Processors, AreSharedByNeighbouringSlots) {
  Machine machine = host_with(3);
  machine.slots = {7, 6, 5, 4, 3, 2, 1, 0};
  Processors processors(machine, 8);
  for (const Rank rank : {7u, 4u, 1u}) processors.ask(rank, 0);  // slots 0, 3 and 6: of processors 0, 1 and 2
  for (const Rank rank : {7u, 4u, 1u}) EXPECT_EQ(given_out(processors, rank, 0), Ranks{rank});
  for (const Rank rank : {5u, 2u, 0u})
    processors.ask(rank, 1);  // slots 2, 5 and 7, whose processors are taken
  for (const Rank rank : {5u, 2u, 0u}) EXPECT_EQ(given_out(processors, rank, 1), Ranks{});
}

TEST(Processors, AreThoseOfTheRanksHost) {
  const Machine machine = host_with(1);
  Processors processors(machine, 12);  // four on the second host
  processors.ask(3, 0);
  processors.ask(9, 0);
  EXPECT_EQ(given_out(processors, 8, 0), Ranks{9});
  EXPECT_EQ(given_out(processors, 0, 0), Ranks{3});
}

}  // namespace
}  // namespace aqueduct::coll
