#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/scratch/banks.hpp"
#include "coll/tune/operation_word.hpp"
#include "coll/tune/rules.hpp"
#include "coll/tune/table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

constexpr std::uint64_t kMebi = 1 << 20;
constexpr std::uint32_t kElement = 8;

Shape shape_of(Operation operation, Rank ranks, std::uint64_t bytes) {
  Shape shape;
  shape.operation = operation;
  shape.ranks = ranks;
  shape.element = operation == Operation::barrier ? 1 : kElement;
  shape.bytes = shape.pitch = bytes;
  return shape;
}

Shape single(Shape shape) {
  shape.addresses = Addresses::single;
  return shape;
}

TeamTraits network(Rank ranks) { return {.ranks = ranks, .one_host = false, .mapped = false}; }

TeamTraits sockets_of_two() { return {.ranks = 2, .one_host = false, .mapped = false, .sockets = true}; }

ScratchLayout usual_layout(Rank ranks) { return {ScratchSizes(), ranks}; }

/// The name of the algorithm in the default scratch.
std::string chosen(const Shape& shape, const TeamTraits& team) {
  const Choice choice = TableChooser().choose(shape, team, usual_layout(shape.ranks));
  return choice.algorithm == nullptr ? std::string("none") : name_of(*choice.algorithm, choice.shape);
}

/// Everything that an operation may be asked for, but for its size and its team.
std::vector<Shape> all_modes(Operation operation) {
  std::vector<Shape> out;
  const bool combines = reduces(operation);
  for (const Sync in : {Sync::none, Sync::mine, Sync::all}) {
    for (const Sync end : {Sync::none, Sync::mine, Sync::all}) {
      for (const Addresses addresses : {Addresses::single, Addresses::local}) {
        for (const Order order : {Order::any, Order::same_everywhere, Order::exact}) {
          for (const bool commutative : {true, false}) {
            if (!combines && (order != Order::any || !commutative)) continue;
            Shape shape;
            shape.operation = operation;
            shape.in = in;
            shape.out = end;
            shape.addresses = addresses;
            shape.order = order;
            shape.commutative = commutative;
            out.push_back(shape);
          }
        }
      }
    }
  }
  return out;
}

/// What the engine relies on.
void expect_runnable(const Choice& choice, const Shape& shape, const ScratchLayout& layout) {
  ASSERT_NE(choice.algorithm, nullptr) << choice.why;
  EXPECT_EQ(choice.shape.bytes, shape.bytes);
  EXPECT_EQ(choice.shape.pitch, shape.pitch);
  ASSERT_GT(choice.piece, 0u);
  EXPECT_EQ(choice.piece % choice.shape.element, 0u);
  EXPECT_TRUE(choice.shape.element == shape.element || !reduces(shape.operation))
      << "combined elements are cut";
  const auto expect_piece = [&](std::uint64_t bytes) {
    const Shape piece = piece_of(choice.shape, bytes);
    EXPECT_EQ(Schedule::refusal(*choice.algorithm, piece), nullptr);
    EXPECT_EQ(layout.refusal(portion_of(*choice.algorithm, piece)), nullptr);
  };
  if (choice.piece >= shape.bytes) {
    expect_piece(shape.bytes);
  } else {
    expect_piece(choice.piece);
    expect_piece(shape.bytes % choice.piece);
  }
}

class TableForAll : public testing::TestWithParam<Operation> {};

TEST_P(TableForAll, HasAnAlgorithmForEverything) {
  const TableChooser table;
  std::vector<Rank> sizes_of_teams;
  for (Rank ranks = 1; ranks <= 17; ++ranks) sizes_of_teams.push_back(ranks);
  sizes_of_teams.insert(sizes_of_teams.end(), {64, 100, 1000});
  std::vector<std::uint64_t> sizes{0};
  if (GetParam() != Operation::barrier) sizes = {0, 8, 24, 1024, 65'536, kMebi, 64 * kMebi};
  const std::vector<Shape> modes = all_modes(GetParam());
  for (const Rank ranks : sizes_of_teams) {
    for (const ScratchSizes& scratch : {ScratchSizes(), least_scratch(ranks)}) {
      const ScratchLayout layout(scratch, ranks);
      for (Shape shape : modes) {
        shape.ranks = ranks;
        shape.root = ranks - 1;
        shape.element = GetParam() == Operation::barrier ? 1 : kElement;
        for (const std::uint64_t bytes : sizes) {
          shape.bytes = shape.pitch = bytes;
          expect_runnable(table.choose(shape, {.ranks = ranks}, layout), shape, layout);
          if (HasFailure()) {
            FAIL() << operation_word(GetParam()) << " of " << bytes << " bytes, " << ranks << " members";
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, TableForAll,
                         testing::Values(Operation::barrier, Operation::broadcast, Operation::scatter,
                                         Operation::gather, Operation::all_gather, Operation::all_to_all,
                                         Operation::reduce, Operation::all_reduce, Operation::reduce_scatter,
                                         Operation::scan, Operation::exscan, Operation::permute,
                                         Operation::scatter_v, Operation::gather_v, Operation::all_gather_v,
                                         Operation::all_to_all_v),
                         [](const auto& one) { return std::string(operation_word(one.param)); });

// The longest element that the least scratch is made for, one at a time; an all-to-all may cut it.
TEST(Table, MovesLongElementsThroughTheLeastScratch) {
  for (const Rank ranks : {2u, 3u, 5u, 17u, 64u, 100u, 1000u, 5000u}) {
    const ScratchLayout layout(least_scratch(ranks), ranks);
    for (const Operation operation :
         {Operation::broadcast, Operation::scatter, Operation::gather, Operation::all_gather,
          Operation::all_to_all, Operation::reduce, Operation::all_reduce, Operation::reduce_scatter,
          Operation::scan, Operation::exscan}) {
      for (Shape shape : all_modes(operation)) {
        shape.ranks = ranks;
        shape.element = 16;
        shape.bytes = shape.pitch = 160;
        expect_runnable(TableChooser().choose(shape, {.ranks = ranks}, layout), shape, layout);
        if (HasFailure()) FAIL() << operation_word(operation) << ", " << ranks << " members";
      }
    }
  }
}

TEST(Table, HasRulesWhoseAlgorithmsAreOfTheOperation) {
  for (std::size_t i = 0; i < ForcedAlgorithms().size(); ++i) {
    const auto operation = static_cast<Operation>(i);
    const bool one_algorithm = operation == Operation::permute || operation == Operation::scatter_v ||
                               operation == Operation::gather_v;
    EXPECT_EQ(rules_of(operation).empty(), one_algorithm);
    for (const Rule& rule : rules_of(operation)) EXPECT_EQ(rule.algorithm->operation, operation);
  }
}

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

// Long blocks, where members have a processor each, and nobody asks for what partial results cannot give.
TEST(Table, KeepsToDomainsOfMemory) {
  const auto bound = [](std::uint32_t domains) {
    return TeamTraits{.ranks = 16,
                      .board = {.slots = kMostSlots, .narrow = kMostNarrow, .bulk = kMostBulk},
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

// Two pieces fit into a bank, so that the second begins while the first is under way.
TEST(Table, CutsWhatDoesNotFitIntoPiecesThatOverlap) {
  const Shape shape = shape_of(Operation::broadcast, 16, 64 * kMebi);
  const ScratchLayout layout = usual_layout(16);
  const Choice choice = TableChooser().choose(shape, network(16), layout);
  ASSERT_NE(choice.algorithm, nullptr);
  EXPECT_EQ(choice.piece, layout.sizes().bytes / 2);
  EXPECT_EQ(choice.shape.bytes, shape.bytes);
  EXPECT_GT(choice.shape.parameters[0], 1u) << "segments of a piece";
}

TEST(Table, CutsWhatIsLongerThanAMessage) {
  TeamTraits team = network(8);
  team.most_transfer = 4096;
  const ScratchLayout layout = usual_layout(8);
  const Choice gather = TableChooser().choose(shape_of(Operation::all_gather, 8, 1024), team, layout);
  EXPECT_EQ(gather.piece, 512u) << "a message may carry the blocks of all members";
  const Choice direct = TableChooser().choose(single(shape_of(Operation::all_gather, 8, 1024)), team, layout);
  EXPECT_EQ(direct.piece, 1024u);
}

// No power of two is a multiple of it.
TEST(Table, DoesNotCutElementsThatAreCombined) {
  Shape shape = shape_of(Operation::all_reduce, 4, 24 * kMebi);
  shape.element = 24;
  const ScratchLayout layout = usual_layout(4);
  const Choice choice = TableChooser().choose(shape, network(4), layout);
  expect_runnable(choice, shape, layout);
  EXPECT_LT(choice.piece, shape.bytes);
}

TEST(Table, CutsLongElementsThatAreOnlyMoved) {
  Shape shape = shape_of(Operation::broadcast, 4, 2 * kMebi);
  shape.element = static_cast<std::uint32_t>(kMebi);
  const ScratchLayout layout = usual_layout(4);
  const Choice moved = TableChooser().choose(shape, network(4), layout);
  ASSERT_NE(moved.algorithm, nullptr);
  EXPECT_EQ(moved.shape.element, 1u);
  shape.operation = Operation::all_reduce;
  const Choice combined = TableChooser().choose(shape, network(4), layout);
  EXPECT_EQ(combined.algorithm, nullptr);
  EXPECT_NE(combined.why.find("AQUEDUCT_COLL_SCRATCH"), std::string_view::npos);
}

// A Bruck of radix 2 comes first in the table for such blocks, but would cut their elements.
TEST(Table, CutsElementsOnlyIfNoAlgorithmTakesThemWhole) {
  for (const Rank ranks : {20u, 50u, 64u}) {
    const Shape shape = shape_of(Operation::all_to_all, ranks, 64);
    const ScratchLayout least(least_scratch(ranks), ranks);
    const Choice choice = TableChooser().choose(shape, network(ranks), least);
    expect_runnable(choice, shape, least);
    EXPECT_EQ(choice.shape.element, kElement) << ranks << " members";
  }
}

TEST(Table, CutsElementsIntoTheLargestPieces) {
  const Shape shape = shape_of(Operation::all_to_all, 1000, 64);
  const ScratchLayout least(least_scratch(1000), 1000);
  const Choice choice = TableChooser().choose(shape, network(1000), least);
  expect_runnable(choice, shape, least);
  EXPECT_EQ(name_of(*choice.algorithm, choice.shape), "bruck:radix=64");
  EXPECT_EQ(choice.piece, 5u);
}

TEST(Table, AnswersAlikeOnAllMembers) {
  const Shape shape = shape_of(Operation::all_to_all, 100, 4096);
  const Choice one = TableChooser().choose(shape, network(100), usual_layout(100));
  const Choice other = TableChooser().choose(shape, network(100), usual_layout(100));
  EXPECT_EQ(one.algorithm, other.algorithm);
  EXPECT_EQ(one.shape, other.shape);
  EXPECT_EQ(one.piece, other.piece);
}

ForcedAlgorithms only(const Algorithm& algorithm, const WantedParameters& wanted = {}) {
  ForcedAlgorithms forced{};
  forced[static_cast<std::size_t>(algorithm.operation)] = {&algorithm, wanted};
  return forced;
}

TEST(Table, DoesWhatASettingAsksFor) {
  const TableChooser table(only(kBroadcastKNomial, {8, 0}));
  const Choice choice =
      table.choose(shape_of(Operation::broadcast, 16, 120'000), network(16), usual_layout(16));
  ASSERT_EQ(choice.algorithm, &kBroadcastKNomial);
  EXPECT_EQ(choice.shape.parameters[0], 8u);
  EXPECT_EQ(choice.shape.parameters[1], 2u) << "the best of such chains, since the setting does not say";
}

TEST(Table, SaysWhoCanDoItIfTheSettingsAlgorithmCannot) {
  const TableChooser table(only(kAllReduceRing));
  Shape shape = shape_of(Operation::all_reduce, 16, 64);
  shape.commutative = false;
  const Choice choice = table.choose(shape, network(16), usual_layout(16));
  EXPECT_EQ(choice.algorithm, nullptr);
  const std::string why(choice.why);
  EXPECT_NE(why.find("ring"), std::string::npos) << why;
  EXPECT_NE(why.find("it needs a commutative operator"), std::string::npos) << why;
  EXPECT_NE(why.find("these can: multiplying, tree, direct, parts, halving"), std::string::npos) << why;
}

TEST(Table, ExplainsItself) {
  Shape shape = shape_of(Operation::all_reduce, 17, kMebi);
  const std::string text = TableChooser().explain(shape, network(17), usual_layout(17));
  EXPECT_NE(text.find("all_reduce of 1048576 bytes, 17 members\n  circulant\n"), std::string::npos) << text;
  EXPECT_NE(text.find("pieces of"), std::string::npos) << text;
  EXPECT_NE(text.find("not halving: it needs a power of two members"), std::string::npos) << text;
  EXPECT_NE(text.find("not multiplying: it could, but the table prefers another"), std::string::npos) << text;
}

// A setting holds for all teams of a job, and a tree for teams of one size (decision 132).
TEST(Table, LeavesWhatATreeOfTheTeamCannotDoToTheRules) {
  for (const Operation operation :
       {Operation::broadcast, Operation::scatter, Operation::gather, Operation::reduce}) {
    ForcedAlgorithms forced;
    for (const Algorithm* const algorithm : all_algorithms()) {
      if (algorithm->operation == operation && algorithm->team_tree)
        forced[static_cast<std::size_t>(operation)].algorithm = algorithm;
    }
    const TableChooser table(forced);
    const Shape shape = shape_of(operation, 4, 64);
    const auto name = [&](const Shape& of, const TeamTraits& team) {
      const Choice choice = table.choose(of, team, usual_layout(4));
      return choice.algorithm == nullptr ? std::string("none") : name_of(*choice.algorithm, choice.shape);
    };
    TeamTraits team = network(4);
    EXPECT_EQ(name(shape, team), chosen(shape, team)) << operation_word(operation);
    const std::string without = table.explain(shape, team, usual_layout(4));
    EXPECT_NE(without.find("(a setting asks for team-tree, but the team has no tree)"), std::string::npos)
        << without;
    EXPECT_NE(without.find("not team-tree: the team has no tree: neither AQUEDUCT_COLL_TREE nor"),
              std::string::npos)
        << without;
    const TeamTree tree(std::vector<Rank>{2, 2, kNoRank, 0});
    team.tree = &tree;
    EXPECT_EQ(name(shape, team).rfind("team-tree", 0), 0u) << operation_word(operation);
    const std::string with = table.explain(shape, team, usual_layout(4));
    EXPECT_NE(with.find("(a setting asks for it)"), std::string::npos) << with;
    Shape exact = shape;
    exact.order = Order::exact;
    Shape ordered = shape;
    ordered.commutative = false;
    if (operation != Operation::reduce) continue;
    for (const Shape& one : {exact, ordered}) {
      EXPECT_EQ(name(one, team), chosen(one, team));
      const std::string text = table.explain(one, team, usual_layout(4));
      EXPECT_NE(text.find("(a setting asks for team-tree, but it combines in the order of its tree)"),
                std::string::npos)
          << text;
    }
  }
}

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
}  // namespace aqueduct::coll
