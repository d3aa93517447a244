// What the table chooses where members share hosts.

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/operation_word.hpp"
#include "tests/unit/coll/table_choices.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll::table_tests {
namespace {

/// Four members on each of two hosts.
TEST(Table, GoesByHostsWhereSomeMembersShareOne) {
  const Groups groups(8, [](Rank position) { return position / 4; });
  TeamTraits team = network(8);
  const std::vector<Operation> by_hosts{Operation::barrier, Operation::broadcast,  Operation::all_gather,
                                        Operation::reduce,  Operation::all_reduce, Operation::scatter,
                                        Operation::gather,  Operation::all_to_all, Operation::reduce_scatter,
                                        Operation::scan,    Operation::exscan};
  for (const Operation operation : by_hosts) {
    const Shape shape = shape_of(operation, 8, operation == Operation::barrier ? 0 : 64);
    EXPECT_EQ(chosen(shape, team).rfind("hosts", 0), std::string::npos);
    team.groups = &groups;
    EXPECT_EQ(chosen(shape, team).rfind("hosts", 0), 0u) << operation_word(operation);
    const Choice choice = TableChooser().choose(shape, team, usual_layout(8));
    EXPECT_EQ(choice.shape.groups.of, &groups);
    team.groups = nullptr;
  }
}

// Where each member has a block of its own, leaders handle all of them: only short ones, and only of so many members
// (decision 123).
TEST(Table, SendsShortBlocksOfEachMemberByHosts) {
  const auto by_hosts = [](Operation operation, Rank hosts, Rank on_each, std::uint64_t bytes) {
    const Groups groups(hosts * on_each, [&](Rank position) { return position / on_each; });
    TeamTraits team = network(hosts * on_each);
    team.groups = &groups;
    return chosen(shape_of(operation, hosts * on_each, bytes), team).rfind("hosts", 0) == 0;
  };
  struct Limit {
    Operation operation;
    Rank hosts;
    Rank on_each;
    std::uint64_t bytes;  ///< the most that go by hosts
  };
  for (const Limit& limit : {Limit{Operation::gather, 2, 16, 1024},
                             {Operation::scatter, 2, 16, 2048},
                             {Operation::all_to_all, 2, 4, 768},
                             {Operation::all_to_all, 2, 16, 48},
                             {Operation::reduce_scatter, 2, 4, 512},
                             {Operation::reduce_scatter, 4, 8, 64},
                             {Operation::scan, 3, 8, 2048},
                             {Operation::exscan, 3, 8, 2048}}) {
    SCOPED_TRACE(operation_word(limit.operation));
    EXPECT_TRUE(by_hosts(limit.operation, limit.hosts, limit.on_each, limit.bytes));
    EXPECT_FALSE(by_hosts(limit.operation, limit.hosts, limit.on_each, limit.bytes + 8));
    EXPECT_FALSE(by_hosts(limit.operation, 2, 17, 8)) << "too many members on a host";
  }
  EXPECT_FALSE(by_hosts(Operation::all_to_all, 21, 2, 8)) << "too many messages between hosts";
  EXPECT_FALSE(by_hosts(Operation::reduce_scatter, 21, 2, 8));
  EXPECT_TRUE(by_hosts(Operation::gather, 100, 2, 8)) << "a tree of leaders";
}

// If they are dealt out to the hosts in turns, members at a distance of the number of hosts share one: what knows no hosts
// crosses in fewer rounds.
TEST(Table, SendsBlocksOfEachMemberByHostsWhereThoseOfAHostAreConsecutive) {
  const Groups in_row(8, [](Rank position) { return position / 4; });
  const Groups in_turn(8, [](Rank position) { return position % 2; });
  TeamTraits team = network(8);
  for (const auto& [operation, otherwise] :
       std::vector<std::pair<Operation, std::string>>{{Operation::gather, "k-nomial:radix=8"},
                                                      {Operation::scatter, "k-nomial:radix=8"},
                                                      {Operation::all_to_all, "bruck:radix=8"},
                                                      {Operation::reduce_scatter, "direct"},
                                                      {Operation::scan, "doubling"},
                                                      {Operation::exscan, "doubling"}}) {
    team.groups = &in_turn;
    EXPECT_EQ(chosen(shape_of(operation, 8, 64), team), otherwise);
    team.groups = &in_row;
    Shape shape = shape_of(operation, 8, 64);
    EXPECT_EQ(chosen(shape, team).rfind("hosts", 0), 0u);
    if (!reduces(operation)) continue;
    shape.commutative = false;
    EXPECT_EQ(chosen(shape, team), "hosts");
    shape.order = Order::exact;
    EXPECT_NE(chosen(shape, team), "hosts");
  }
  // A setting may ask for them in any order of members, unless they have to combine in it.
  team.groups = &in_turn;
  ForcedAlgorithms forced;
  forced[static_cast<std::size_t>(Operation::reduce_scatter)].algorithm = &kReduceScatterHosts;
  forced[static_cast<std::size_t>(Operation::scan)].algorithm = &kScanHosts;
  const TableChooser table(forced);
  Shape shape = shape_of(Operation::reduce_scatter, 8, 64);
  EXPECT_EQ(table.choose(shape, team, usual_layout(8)).algorithm, &kReduceScatterHosts);
  shape.commutative = false;
  EXPECT_EQ(table.choose(shape, team, usual_layout(8)).algorithm, nullptr);
  EXPECT_EQ(table.choose(shape_of(Operation::scan, 8, 64), team, usual_layout(8)).algorithm, nullptr);
}

// Four members on each of four hosts. Leaders alone would be too slow; chains and rings cross to each host once only if its
// members follow one another.
TEST(Table, KeepsAllMembersAtWorkOnLongBlocksOfSeveralHosts) {
  const Groups in_rows(16, [](Rank position) { return position / 4; });
  const Groups in_turns(16, [](Rank position) { return position % 4; });
  const std::vector<std::pair<Operation, std::string>> long_ones{{Operation::broadcast, "chain"},
                                                                 {Operation::all_gather, "ring"},
                                                                 {Operation::reduce, "halving"},
                                                                 {Operation::all_reduce, "halving"}};
  TeamTraits team = network(16);
  for (const auto& [operation, name] : long_ones) {
    const Shape shape = shape_of(operation, 16, 64 << 10);
    team.groups = &in_rows;
    EXPECT_EQ(chosen(shape, team).rfind(name, 0), 0u)
        << operation_word(operation) << ' ' << chosen(shape, team);
    team.groups = &in_turns;
    EXPECT_EQ(chosen(shape, team).rfind("hosts", 0), 0u)
        << operation_word(operation) << ' ' << chosen(shape, team);
  }
}

TEST(Table, SendsFewMessagesBetweenAnyNumberOfHosts) {
  for (const Rank hosts : {33u, 66u, 100u}) {
    const Groups groups(2 * hosts, [](Rank position) { return position / 2; });
    TeamTraits team = network(2 * hosts);
    team.groups = &groups;
    EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 2 * hosts, 64), team), "hosts-tree:radix=8") << hosts;
  }
}

// `hosts-tree`, rings and circulant graphs do not combine in team order. What does not know the hosts would send the vector
// of every member between them.
TEST(Table, LeavesReductionsInTeamOrderOfConsecutiveMembersToHosts) {
  for (const Rank hosts : {12u, 20u, 40u}) {
    const Groups groups(3 * hosts, [](Rank position) { return position / 3; });
    TeamTraits team = network(3 * hosts);
    team.groups = &groups;
    for (const std::uint64_t bytes : {8u, 16u << 10, 64u << 10}) {
      Shape shape = shape_of(Operation::all_reduce, 3 * hosts, bytes);
      shape.commutative = false;
      EXPECT_EQ(chosen(shape, team).rfind("hosts:", 0), 0u)
          << hosts << ' ' << bytes << ' ' << chosen(shape, team);
    }
  }
  const Groups groups(16, [](Rank position) { return position / 4; });
  TeamTraits team = network(16);
  Shape reduce = shape_of(Operation::reduce, 16, 64);
  reduce.commutative = false;
  const std::string without = chosen(reduce, team);
  team.groups = &groups;
  EXPECT_EQ(chosen(reduce, team), without) << "short ones are as in other teams";
}

TEST(Table, CombinesInTeamOrderAlsoByHosts) {
  const Groups in_row(8, [](Rank position) { return position / 4; });
  const Groups in_turn(8, [](Rank position) { return position % 2; });
  Shape shape = shape_of(Operation::all_reduce, 8, 64);
  shape.commutative = false;
  TeamTraits team = network(8);
  team.groups = &in_row;
  EXPECT_EQ(chosen(shape, team), "hosts:radix=2");
  team.groups = &in_turn;
  EXPECT_EQ(chosen(shape, team).rfind("hosts", 0), std::string::npos);
  EXPECT_NE(chosen(shape, team), "none");
}

TEST(Table, TakesARadixOfWhichTheHostsAreAPower) {
  TeamTraits team = network(24);
  for (const auto& [hosts, name] : std::vector<std::pair<Rank, std::string>>{{2, "hosts:radix=2"},
                                                                             {3, "hosts:radix=3"},
                                                                             {4, "hosts:radix=4"},
                                                                             {8, "hosts:radix=2"},
                                                                             {6, "hosts:radix=6"}}) {
    const Groups groups(24, [count = hosts](Rank position) { return position % count; });
    team.groups = &groups;
    EXPECT_EQ(chosen(shape_of(Operation::all_reduce, 24, 64), team), name) << hosts;
  }
}

}  // namespace
}  // namespace aqueduct::coll::table_tests
