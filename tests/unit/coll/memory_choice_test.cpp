// Which algorithms of a board the model of memory chooses for teams in several domains, and that nothing changes for others.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/algorithms/algorithms.hpp"
#include "coll/tune/board_choice.hpp"
#include "coll/tune/memory_choice.hpp"
#include "coll/tune/table.hpp"
#include "core/endpoint_state.hpp"
#include "topology/machine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

/// As much as the team of all ranks has.
constexpr std::uint32_t kBulk = 32768;
constexpr BoardRoom kWorldRoom{.slots = kMostSlots, .narrow = kMostNarrow, .bulk = kBulk};

Shape board_shape(Operation operation, Rank ranks, std::uint64_t bytes, Sync sync = Sync::all) {
  Shape shape;
  shape.operation = operation;
  shape.ranks = ranks;
  shape.element = 8;
  shape.bytes = shape.pitch = bytes;
  shape.in = shape.out = sync;
  return shape;
}

std::string name_chosen(const Choice& choice) {
  return choice.algorithm == nullptr ? std::string("none") : name_of(*choice.algorithm, choice.shape);
}

struct Divided {
  std::uint32_t domains;
  std::uint32_t each;

  TeamTraits team(const BoardRoom& room = kWorldRoom) const {
    return {.ranks = domains * each,
            .board = room,
            .domains = {.count = domains, .smallest = each, .largest = each, .in_team_order = true}};
  }
  std::string chosen(Operation operation, std::uint64_t bytes, Sync sync = Sync::all) const {
    return name_chosen(choose_board(board_shape(operation, domains * each, bytes, sync), team()));
  }
};
constexpr Divided kTwoOfSix{2, 6};
constexpr Divided kFourOfEight{4, 8};
constexpr Divided kEightOfSixteen{8, 16};
constexpr std::array kDivided{kTwoOfSix, kFourOfEight, kEightOfSixteen};

// HF-13 and HR-05: 16 KiB on the first machine, and 14 KiB on the second.
TEST(MemoryChoice, ReductionsCrossFromATreeToTilesWhereTheFormsDo) {
  const std::uint64_t from[] = {16384, 14336, 20288};
  for (std::size_t i = 0; i < kDivided.size(); ++i) {
    const Divided& host = kDivided[i];
    SCOPED_TRACE(testing::Message() << host.domains << " x " << host.each);
    const MemoryMachine machine = assumed_machine(host.team().domains);
    ASSERT_EQ(64 * tiles_from(machine), from[i]);
    for (const Operation operation : {Operation::reduce, Operation::all_reduce}) {
      for (std::uint64_t bytes = 1088; bytes <= kBulk; bytes += 64) {
        const std::string_view expected =
            bytes < from[i] ? "flags-tree:radix=2,up=1,down=2" : "mapped-domain-tiles";
        ASSERT_EQ(host.chosen(operation, bytes), expected) << bytes;
        // What is compared is what the forms say.
        const std::uint64_t lines = bytes / 64;
        ASSERT_EQ(all_reduce_by_tiles_time(machine, lines) <= all_reduce_by_tree_time(machine, lines),
                  bytes >= from[i]);
      }
      EXPECT_EQ(host.chosen(operation, 1 << 20), "mapped-domain-tiles");
    }
  }
}

// HR-07: in one stage on two domains, in two on four.
TEST(MemoryChoice, LongBroadcastsGoInAsManyStagesAsTheFormsSay) {
  for (const std::uint64_t bytes : {2048u, 16384u, 1u << 20}) {
    EXPECT_EQ(kTwoOfSix.chosen(Operation::broadcast, bytes), "mapped");
    EXPECT_EQ(kFourOfEight.chosen(Operation::broadcast, bytes), "mapped-domains");
    EXPECT_EQ(kEightOfSixteen.chosen(Operation::broadcast, bytes), "mapped-domains");
  }
}

// Each block of an all-gather, and each of a reduce-scatter, crosses once for each domain.
TEST(MemoryChoice, BlocksOfAllMembersKeepToDomains) {
  for (const Divided& host : kDivided) {
    EXPECT_EQ(host.chosen(Operation::all_gather, 8), "flags-domains");
    EXPECT_EQ(host.chosen(Operation::all_gather, 2048), "mapped-domain-blocks");
    EXPECT_EQ(host.chosen(Operation::all_gather, 1 << 20), "mapped-domain-blocks");
  }
  EXPECT_EQ(kTwoOfSix.chosen(Operation::reduce_scatter, 1 << 20), "mapped-domain-tiles");
  EXPECT_EQ(kFourOfEight.chosen(Operation::reduce_scatter, 1 << 20), "mapped-domain-tiles");
  // A slot is too short for strips of seven other domains.
  EXPECT_EQ(kEightOfSixteen.chosen(Operation::reduce_scatter, 1 << 20), "mapped-tiles");
}

// One line read by all is quick, but to hear of all members takes a tree.
TEST(MemoryChoice, ShortCallsGoByTheMovementsOfTheirModes) {
  for (const Divided& host : kDivided) {
    SCOPED_TRACE(testing::Message() << host.domains << " x " << host.each);
    EXPECT_EQ(host.chosen(Operation::broadcast, 8, Sync::mine), "flags-flat");
    EXPECT_EQ(host.chosen(Operation::broadcast, 8).substr(0, 10), "flags-tree");
    for (const Operation operation : {Operation::reduce, Operation::all_reduce}) {
      for (const Sync sync : {Sync::mine, Sync::all})
        EXPECT_EQ(host.chosen(operation, 8, sync).substr(0, 18), "flags-tree:radix=2");
    }
  }
}

TEST(MemoryChoice, TakesTheCheapest) {
  int unasked = 0;
  for (const Divided& host : kDivided) {
    for (const Operation operation :
         {Operation::broadcast, Operation::reduce, Operation::all_reduce, Operation::all_gather}) {
      for (const std::uint64_t bytes : {8u, 1024u, 4096u, 16384u, 65536u}) {
        for (const Sync sync : {Sync::none, Sync::mine, Sync::all}) {
          const Shape shape = board_shape(operation, host.domains * host.each, bytes, sync);
          const BoardGuesses guesses = guesses_of(shape, host.team());
          if (guesses.count == 0) {
            ++unasked;
            continue;
          }
          const Choice choice = choose_board(shape, host.team());
          std::uint64_t its = 0;
          for (const BoardGuess& one : guesses.made()) {
            const Fit how = fit_board(*one.algorithm, one.wanted, shape, host.team());
            if (one.algorithm == choice.algorithm && how.shape == choice.shape) its = one.femtoseconds;
          }
          for (const BoardGuess& one : guesses.made()) EXPECT_LE(its, one.femtoseconds);
          EXPECT_NE(its, 0u);
        }
      }
    }
  }
  EXPECT_EQ(unasked, 3) << "128 blocks of 1 KiB do not fit into a slot";
}

// Where a tree's payload does not fit, and where there is no form, the limits of the rules hold.
TEST(MemoryChoice, LeavesToTheRulesWhatItHasNothingToCompareWith) {
  const TeamTraits usual = kTwoOfSix.team({.slots = 32, .narrow = 8, .bulk = 1024});
  const auto chosen = [&](const Shape& shape) { return name_chosen(choose_board(shape, usual)); };
  EXPECT_EQ(chosen(board_shape(Operation::all_reduce, 12, 8192)), "mapped-tiles");
  EXPECT_EQ(chosen(board_shape(Operation::all_reduce, 12, 16384)), "mapped-domain-tiles");
  EXPECT_EQ(chosen(board_shape(Operation::all_gather, 12, 512)),
            "flags-last");  // twelve blocks are longer than a slot
  Shape ordered = board_shape(Operation::all_reduce, 12, 4096);
  ordered.commutative = false;
  TeamTraits scattered = kTwoOfSix.team();
  scattered.domains.in_team_order = false;
  EXPECT_EQ(name_chosen(choose_board(ordered, scattered)), "mapped-tiles");
  EXPECT_EQ(name_chosen(choose_board(ordered, kTwoOfSix.team())), "flags-tree:radix=2,up=1,down=2");
  Shape exact = board_shape(Operation::all_reduce, 12, 4096);
  exact.order = Order::exact;
  EXPECT_EQ(guesses_of(exact, kTwoOfSix.team()).count, 0u);
  // Short calls of few members: a processor reads several lines at a time.
  constexpr Divided kTwoOfFour{2, 4};
  EXPECT_EQ(kTwoOfFour.chosen(Operation::all_reduce, 8), "flags-flat");
  TeamTraits crowded = kFourOfEight.team();
  crowded.crowded = true;
  EXPECT_EQ(guesses_of(board_shape(Operation::all_reduce, 32, 4096), crowded).count, 0u);
}

/// Names and pieces of the choices for all operations, sizes and teams in one domain, as a number.
std::uint64_t digest_of_one_domain() {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](std::string_view text) {
    for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  };
  std::vector<std::uint64_t> sizes{0};
  for (std::uint64_t size = 8; size <= 1 << 20; size *= 2) {
    sizes.push_back(size);
    sizes.push_back(size + 8);
    sizes.push_back(3 * size);
  }
  const TableChooser chooser;
  for (auto operation = Operation::broadcast; operation <= Operation::exscan;
       operation = static_cast<Operation>(static_cast<int>(operation) + 1)) {
    for (const Rank ranks : {2u, 3u, 4u, 7u, 8u, 9u, 12u, 32u}) {
      const ScratchLayout scratch{ScratchSizes(), ranks};
      for (const BoardRoom& room : {kWorldRoom, BoardRoom{32, 8, 1024}, BoardRoom{8, 2, 0}, BoardRoom{}}) {
        for (const bool crowded : {false, true}) {
          for (const Sync sync : {Sync::mine, Sync::all}) {
            for (const std::uint64_t size : sizes) {
              for (const bool ordered : {false, true}) {
                Shape shape = board_shape(operation, ranks, size, sync);
                shape.commutative = !ordered;
                const TeamTraits team{.ranks = ranks, .crowded = crowded, .board = room};
                const Choice choice = chooser.choose(shape, team, scratch);
                add(name_chosen(choice));
                add(std::to_string(choice.piece));
              }
            }
          }
        }
      }
    }
  }
  return hash;
}

// The number was found before the model of memory took part in choices. Whoever changes the rules finds it anew.
TEST(MemoryChoice, ChangesNothingOnHostsOfOneDomain) {
  EXPECT_EQ(digest_of_one_domain(), 0x70eeed488da8e17fu);
}

constexpr const char* kPretended = "package:2 numa:1 l3:1 core:6 pu:1";

// Each member reads the same topology of the host, so all choose alike: else the calls would end with `mismatch`.
TEST(MemoryChoice, AllMembersOfAJobOnAPretendedMachineChooseAlike) {
  // hwloc reads the description, and a build may lack it.
  if (!topology::read_machine(topology::Source::of(kPretended)).problem.empty()) GTEST_SKIP() << "no hwloc";
  constexpr Rank kRanks = 12;
  Config config;
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"conduit", "smp"},
                                    {"topology", kPretended},
                                    {"coll_scratch", "16M"},
                                    {"coll_team_scratch", "4M"}})
    ASSERT_TRUE(config.set(name, value)) << name;
  auto job = Job::in_process(kRanks, config);
  ASSERT_TRUE(job) << job.status().text();
  std::array<std::string, kRanks> below;
  std::array<std::string, kRanks> above;
  job->run_each([&](Endpoint& me) {
    me.state().crowded.assign(kRanks, false);  // as with a processor for each
    auto team = me.world().split(0, me.rank());
    if (!team || !*team) {
      ADD_FAILURE() << "no team";
      job->leave(1);  // the others wait for this rank
    }
    below[me.rank()] = (*team)->explain(Collective::all_reduce, 16384 - 64, ElementType::f64);
    above[me.rank()] = (*team)->explain(Collective::all_reduce, 16384, ElementType::f64);
    for (const std::size_t count : {1u, 16u, 1024u, 2040u, 2048u}) {
      std::vector<double> data(count, me.rank() + 1.0);
      const Status status = all_reduce(**team, data, ReduceOp::sum);
      EXPECT_TRUE(status) << status.text();
      EXPECT_EQ(data, std::vector<double>(count, kRanks * (kRanks + 1) / 2.0));
    }
    EXPECT_TRUE((*team)->end());
  });
  EXPECT_TRUE(job->finish());
  EXPECT_NE(below[0].find("\n  flags-tree:radix=2"), std::string::npos) << below[0];
  EXPECT_NE(below[0].find("by assumed costs of memory"), std::string::npos) << below[0];
  EXPECT_NE(above[0].find("\n  mapped-domain-tiles"), std::string::npos) << above[0];
  for (Rank rank = 1; rank < kRanks; ++rank) {
    EXPECT_EQ(below[rank], below[0]);
    EXPECT_EQ(above[rank], above[0]);
  }
}

}  // namespace
}  // namespace aqueduct::coll
