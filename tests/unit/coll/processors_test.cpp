#include "coll/model/processors.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace aqueduct::coll {
namespace {

using Ranks = std::vector<Rank>;

/// A host of eight ranks with so many processors, which take 5 to go over to another rank.
Machine host_with(std::uint32_t cores) {
  Machine machine;
  machine.host = 8;
  machine.cores = cores;
  machine.turn = 5;
  return machine;
}
/// Whose looks begin.
Ranks given_out(Processors& processors, Rank of_host, Picoseconds now) {
  Ranks out;
  processors.give_out(of_host, now, [&](Rank rank) { out.push_back(rank); });
  return out;
}

TEST(Processors, AreSharedIfThereAreFewerThanRanks) {
  EXPECT_TRUE(Processors(host_with(7), 8).are_shared());
  EXPECT_FALSE(Processors(host_with(8), 8).are_shared());
  EXPECT_FALSE(Processors(host_with(0), 8).are_shared());
}

TEST(Processors, GoToWhoAskedFirstAndAtOneTimeToTheLowerRank) {
  const Machine machine = host_with(1);
  Processors processors(machine, 8);
  processors.ask(6, 10);
  processors.ask(7, 12);
  processors.ask(2, 12);
  EXPECT_EQ(given_out(processors, 0, 12), Ranks{6}) << "nobody has had it";
  EXPECT_EQ(given_out(processors, 0, 13), Ranks{});
  processors.give_back(6, 20);
  EXPECT_EQ(given_out(processors, 0, 24), Ranks{}) << "6 looks on until 25";
  EXPECT_EQ(given_out(processors, 0, 25), Ranks{2});
  processors.give_back(2, 30);
  EXPECT_EQ(given_out(processors, 0, 35), Ranks{7});
}

TEST(Processors, AreThoseThatTheirRanksHadLastOrThatWereFreeLongest) {
  const Machine machine = host_with(2);
  Processors processors(machine, 8);
  processors.ask(0, 0);
  processors.ask(1, 0);
  EXPECT_EQ(given_out(processors, 0, 0), (Ranks{0, 1}));
  processors.give_back(1, 10);
  processors.give_back(0, 20);
  processors.ask(0, 30);
  EXPECT_EQ(given_out(processors, 0, 30), Ranks{0});
  processors.ask(3, 40);
  EXPECT_EQ(given_out(processors, 0, 40), Ranks{3}) << "that of 1, so 0 had its own";
  processors.give_back(0, 50);
  processors.ask(1, 52);
  EXPECT_EQ(given_out(processors, 0, 52), Ranks{}) << "3 has that of 1, and 0 looks on at its own";
  processors.ask(0, 53);
  EXPECT_EQ(given_out(processors, 0, 53), Ranks{0}) << "before 1, which asked first";
  processors.give_back(3, 60);
  EXPECT_EQ(given_out(processors, 0, 65), Ranks{1});
}

TEST(Processors, AreThoseOfTheRanksHost) {
  const Machine machine = host_with(1);
  Processors processors(machine, 16);
  processors.ask(3, 0);
  processors.ask(9, 0);
  EXPECT_EQ(given_out(processors, 8, 0), Ranks{9});
  EXPECT_EQ(given_out(processors, 0, 0), Ranks{3});
}

}  // namespace
}  // namespace aqueduct::coll
