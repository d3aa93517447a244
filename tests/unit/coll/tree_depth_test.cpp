// How deep trees on a board are, by what they cost and by what members do.

#include "coll/algorithms/algorithms.hpp"
#include "coll/shared/board_plan.hpp"
#include "coll/tune/board_choice.hpp"
#include "coll/tune/memory_choice.hpp"
#include "topology/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

constexpr BoardRoom kRoomOfDepths{.slots = 8, .narrow = 8, .bulk = 4096};

/// Packages of two NUMA nodes; `wide` members of the first one, and `each` of the others. No packages: one domain.
topology::Placement placed(std::uint32_t packages, std::uint32_t each, std::uint32_t wide) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < 2 * packages; ++node)
    nodes.insert(nodes.end(), node == 0 ? wide : each, node);
  if (packages == 0) nodes.assign(each, 0);
  std::vector<Rank> members(nodes.size());
  std::iota(members.begin(), members.end(), Rank{0});
  const std::vector<topology::Level> levels{{"host", 1, false},
                                            {"package", std::max(packages, 1u), true},
                                            {"numa", std::max(2 * packages, 1u), true}};
  return topology::Placement::of(members, levels, [&](Rank member, std::size_t level) {
    return level == 0 ? 0 : level == 1 ? nodes[member] / 2 : nodes[member];
  });
}

/// The longest way from a member to the one that has none above it.
template <class Above>
std::uint32_t longest(Rank ranks, const Above& above) {
  std::uint32_t most = 0;
  for (Rank me = 0; me < ranks; ++me) {
    std::uint32_t edges = 0;
    for (Rank at = me; above(at) != kNoRank; at = above(at)) ++edges;
    most = std::max(most, edges);
  }
  return most;
}

/// What the members' plans say. A broadcast goes down and back; a reduction up, an all-reduce down, and then it is said who has read.
std::uint32_t depth_of_plans(const Choice& choice, const topology::Placement* placement) {
  const Rank ranks = choice.shape.ranks;
  std::vector<BoardPlan> plans(ranks);
  for (Rank me = 0; me < ranks; ++me)
    make_plan(plans[me], *choice.algorithm, choice.shape, me, kRoomOfDepths, placement);
  if (choice.algorithm->board == BoardMethod::dissemination) {
    const bool helped =
        std::ranges::any_of(plans, [](const BoardPlan& plan) { return plan.in_rounds.helper != kNoRank; });
    return plans[0].in_rounds.rounds + (helped ? 2 : 0);
  }
  const std::uint32_t in_tree = longest(ranks, [&](Rank me) { return plans[me].parent; });
  if (choice.algorithm->board == BoardMethod::tree)
    return choice.shape.operation == Operation::all_reduce ? 2 * in_tree : in_tree;
  if (!reduces(choice.shape.operation)) return 2 * in_tree;
  return in_tree + longest(ranks, [&](Rank me) { return plans[me].source; }) + 1;
}

TEST(TreeDepth, IsThatOfTheMembersPlans) {
  struct Machine {
    std::uint32_t packages, each, wide;
  };
  for (const Machine& machine :
       {Machine{0, 3, 3}, {0, 8, 8}, {0, 13, 13}, {2, 4, 4}, {3, 5, 5}, {4, 8, 8}, {2, 1, 3}, {3, 2, 7}}) {
    const topology::Placement placement = placed(machine.packages, machine.each, machine.wide);
    TeamTraits team;
    if (!placement.cuts().empty()) team.domains = memory_domains(placement);
    for (const auto& [operation, method] : {std::pair{Operation::broadcast, BoardMethod::domains},
                                            {Operation::broadcast, BoardMethod::tree},
                                            {Operation::reduce, BoardMethod::tree},
                                            {Operation::all_reduce, BoardMethod::tree},
                                            {Operation::all_reduce, BoardMethod::dissemination},
                                            {Operation::broadcast, BoardMethod::large_tree},
                                            {Operation::reduce, BoardMethod::large_tree},
                                            {Operation::all_reduce, BoardMethod::large_tree}}) {
      for (const std::uint32_t radix : {2u, 3u, 4u, 64u}) {
        Choice choice{.algorithm = board_algorithm(operation, method), .shape = {}, .piece = 0, .why = {}};
        choice.shape.operation = operation;
        choice.shape.ranks = placement.size();
        choice.shape.element = 8;
        choice.shape.bytes = choice.shape.pitch = 65536;
        if (method == BoardMethod::large_tree || method == BoardMethod::tree)
          choice.shape.parameters = {radix};
        const std::uint32_t expected =
            depth_of_plans(choice, placement.cuts().empty() ? nullptr : &placement);
        const std::uint32_t depth = cost_on_board(choice, team).depth;
        // Of unequal domains the widest of each level count, which need not lie in each other.
        EXPECT_GE(depth, expected);
        if (machine.each == machine.wide) {
          EXPECT_EQ(depth, expected) << choice.algorithm->name << " of " << machine.packages << " x 2 x "
                                     << machine.each << ", operation " << static_cast<int>(operation)
                                     << ", radix " << radix;
        }
      }
    }
  }
}

// On eight members in four domains a tree is deeper than on eight in one.
TEST(TreeDepth, IsInWhatExplainSays) {
  Choice choice{.algorithm = board_algorithm(Operation::broadcast, BoardMethod::large_tree),
                .shape = {},
                .piece = 0,
                .why = {}};
  choice.shape.operation = Operation::broadcast;
  choice.shape.ranks = 8;
  choice.shape.bytes = choice.shape.pitch = 65536;
  choice.shape.parameters = {4};
  TeamTraits team;
  EXPECT_NE(board_lines(choice, team).find(" 4 deep"), std::string::npos) << board_lines(choice, team);
  const topology::Placement apart = placed(2, 2, 2);
  team.domains = memory_domains(apart);
  EXPECT_NE(board_lines(choice, team).find(" 6 deep"), std::string::npos) << board_lines(choice, team);
}

// Without domains of memory, or where partial results may not be combined, no algorithm has the stages of domains.
TEST(TreeDepth, OfStagesByDomainsIsThatOfOneDomain) {
  const topology::Placement apart = placed(2, 2, 2);
  const OnBoard by_domains{.domains = memory_domains(apart)};
  const OnBoard converting{.domains = memory_domains(apart), .narrow = 2};
  const TeamTraits team{.on_board = &by_domains};
  for (const auto& [operation, method, simpler, in_stages] :
       {std::tuple{Operation::all_gather, BoardMethod::domain_lines, BoardMethod::flat, 3u},
        {Operation::all_gather, BoardMethod::domain_blocks, BoardMethod::mapped, 3u},
        {Operation::all_reduce, BoardMethod::domain_tiles, BoardMethod::tiles, 5u},
        {Operation::reduce, BoardMethod::domain_tiles, BoardMethod::tiles, 3u}}) {
    Choice choice{.algorithm = board_algorithm(operation, method), .shape = {}, .piece = 0, .why = {}};
    choice.shape.operation = operation;
    choice.shape.ranks = 8;
    choice.shape.element = 4;
    choice.shape.bytes = choice.shape.pitch = 64;
    EXPECT_EQ(cost_on_board(choice, team).depth, in_stages);
    const Cost plain = board_algorithm(operation, simpler)->cost(choice.shape);
    EXPECT_EQ(cost_on_board(choice, {}).depth, plain.depth);
    EXPECT_EQ(cost_on_board(choice, {}).bytes, plain.bytes);
    if (!reduces(operation)) continue;
    Choice exact = choice;
    exact.shape.order = Order::exact;
    EXPECT_EQ(cost_on_board(exact, team).depth, plain.depth);
    const TeamTraits converts{.on_board = &converting};
    EXPECT_EQ(cost_on_board(choice, converts).depth, plain.depth);
    EXPECT_EQ(cost_on_board(choice, converts).bytes, plain.bytes / 2);
  }
}

}  // namespace
}  // namespace aqueduct::coll
