// Operations that keep to domains of memory, in interleavings of small steps.

#include "tests/unit/coll/board_model_search.hpp"

#include <utility>
#include <vector>

namespace aqueduct::coll::model {
namespace {

/// Three members, of whom two share a domain. `apart`: the one that is alone.
topology::Placement two_domains(Rank apart) {
  const Rank members[] = {0, 1, 2};
  const std::vector<topology::Level> levels{{"host", 1, false}, {"numa", 2, true}};
  return topology::Placement::of(members, levels, [&](Rank member, std::size_t level) {
    return level == 0 || member != apart ? 0u : 1u;
  });
}

TEST_F(BoardModel, BroadcastsByDomainsInEveryOrder) {
  constexpr auto kMapped = BufferNote::address;
  constexpr auto kNowhere = BufferNote::nowhere;
  for (const auto& [in, out] : {std::pair{kMapped, kMapped}, {kMapped, kNowhere}, {kNowhere, kMapped}}) {
    for (const Rank root : {0u, 2u}) {
      ModelCase what{3, kPiecesOfAWord, {}, Careless::no, in, out, two_domains(2)};
      what.calls.push_back(large_call(Operation::broadcast, BoardMethod::domains, 3, root, Sync::mine));
      all_are_right(what);
    }
  }
  ModelCase what{2, kPiecesOfAWord, {}};
  for (Rank root = 0; root < 2; ++root)
    what.calls.push_back(large_call(Operation::broadcast, BoardMethod::domains, 2, root, Sync::all));
  all_are_right(what);
}

// Three members in several stages have more orders than can be tried: the first that a search finds.
TEST_F(BoardModel, ReductionsByDomainsInManyOrders) {
  constexpr std::size_t kMostStates = 10'000;
  for (const Operation operation : {Operation::reduce, Operation::all_reduce}) {
    for (const Rank root : {2u, 0u}) {
      ModelCase what{3, {.slots = 2, .narrow = 1, .bulk = 0}, {}};
      what.placement = two_domains(2);
      what.calls.push_back(large_call(operation, BoardMethod::domain_tiles, 3,
                                      operation == Operation::reduce ? root : 0, Sync::mine));
      if (root == 0) what.calls.push_back(what.calls[0]);
      all_are_right(what, kMostStates);  // varies the latest choices first
      EXPECT_EQ(wander(what, 10 * kWalks), "") << what.calls[0].algorithm->name << ", root " << root;
    }
  }
}

// The member that is alone in its domain is the root, or below it, and others reach buffers or do not.
TEST_F(BoardModel, ReductionsUpATreeOfDomainsInManyOrders) {
  constexpr std::size_t kMostStates = 10'000;
  constexpr auto kMapped = BufferNote::address;
  constexpr auto kNowhere = BufferNote::nowhere;
  for (const Operation operation : {Operation::reduce, Operation::all_reduce}) {
    for (const Rank apart : {0u, 2u}) {
      for (const auto& [in, out] : {std::pair{kMapped, kMapped}, {kNowhere, kMapped}, {kMapped, kNowhere}}) {
        ModelCase what{
            3, {.slots = 1, .narrow = 1, .bulk = 4}, {}, Careless::no, in, out, two_domains(apart)};
        for (const Sync sync : {Sync::mine, Sync::all})
          what.calls.push_back(large_call(operation, BoardMethod::large_tree, 3,
                                          operation == Operation::reduce ? 2 : 0, sync));
        all_are_right(what, kMostStates);
        EXPECT_EQ(wander(what, 4 * kWalks), "") << "in " << in << ", out " << out << ", apart " << apart;
      }
    }
  }
}

TEST_F(BoardModel, BlocksByDomainsInManyOrders) {
  constexpr auto kMapped = BufferNote::address;
  constexpr auto kNowhere = BufferNote::nowhere;
  struct Entry {
    Operation operation;
    BoardMethod method;
  };
  for (const Entry& entry : {Entry{Operation::all_gather, BoardMethod::domain_blocks},
                             {Operation::all_to_all, BoardMethod::domain_blocks},
                             {Operation::reduce_scatter, BoardMethod::domain_tiles}}) {
    for (const auto& [in, out] : {std::pair{kMapped, kMapped}, {kNowhere, kMapped}, {kMapped, kNowhere}}) {
      for (const Rank calls : {1u, 2u}) {
        ModelCase what{3, {.slots = 2, .narrow = 1, .bulk = 24}, {}, Careless::no, in, out, two_domains(2)};
        for (Rank i = 0; i < calls; ++i)
          what.calls.push_back(large_call(entry.operation, entry.method, 3, 0, Sync::mine));
        EXPECT_EQ(wander(what, 10 * kWalks), "")
            << what.calls[0].algorithm->name << ", in " << in << ", out " << out;
      }
    }
  }
}

/// Four members, of whom those with even numbers share a domain, and the others do.
topology::Placement even_and_odd() {
  const Rank members[] = {0, 1, 2, 3};
  const std::vector<topology::Level> levels{{"host", 1, false}, {"numa", 2, true}};
  return topology::Placement::of(members, levels,
                                 [](Rank member, std::size_t level) { return level == 0 ? 0u : member % 2; });
}

// Two calls on a board with one slot in every order, else in the first ones that a search finds.
TEST_F(BoardModel, ShortAllGathersByDomainsInEveryOrder) {
  constexpr std::size_t kMostStates = 10'000;
  for (const std::uint32_t slots : {1u, 2u}) {
    for (const Rank apart : {0u, 2u}) {
      ModelCase what{3, {.slots = slots, .narrow = 1, .bulk = 0}, {}};
      what.placement = two_domains(apart);
      // Three take minutes, and were right.
      for (int i = 0; i < 2; ++i)
        what.calls.push_back(call_of(Operation::all_gather, BoardMethod::domain_lines, 3, 0));
      all_are_right(what, slots == 1 && apart == 2 ? ~std::size_t{0} : kMostStates);
    }
  }
}

TEST_F(BoardModel, ShortAllGathersByDomainsOfFourMembersInOrdersOfChance) {
  for (const std::uint32_t slots : {1u, 2u}) {
    for (const std::uint64_t bytes : {4u, 28u}) {
      for (const Rank ranks : {3u, 4u}) {
        ModelCase what{ranks, {.slots = slots, .narrow = 1, .bulk = 0}, {}};
        what.placement = ranks == 4 ? even_and_odd() : two_domains(1);
        for (int i = 0; i < 3; ++i) {
          const Sync sync = i == 0 ? Sync::mine : i == 1 ? Sync::none : Sync::all;
          what.calls.push_back(
              call_of(Operation::all_gather, BoardMethod::domain_lines, ranks, 0, sync, sync));
          what.calls.back().shape.bytes = what.calls.back().shape.pitch = bytes;
        }
        EXPECT_EQ(wander(what, 4 * kWalks), "") << ranks << " members, " << slots << " slots";
      }
    }
  }
  // What is packed goes beside the lines.
  ModelCase what{3, {.slots = 2, .narrow = 1, .bulk = 128}, {}};
  what.placement = two_domains(2);
  for (int i = 0; i < 3; ++i) {
    what.calls.push_back(call_of(Operation::all_gather, BoardMethod::domain_lines, 3, 0));
    what.calls.back().shape.bytes = what.calls.back().shape.pitch = 40;
  }
  EXPECT_EQ(wander(what, 4 * kWalks), "");
}

TEST_F(BoardModel, FindsPackedBlocksThatAreWrittenTooEarly) {
  ModelCase what{3, {.slots = 1, .narrow = 1, .bulk = 0}, {}, Careless::of_readers};
  what.placement = two_domains(2);
  for (int i = 0; i < 2; ++i)
    what.calls.push_back(call_of(Operation::all_gather, BoardMethod::domain_lines, 3, 0));
  EXPECT_NE(wander(what, kWalks), "");
}

TEST_F(BoardModel, FindsAStripThatIsWrittenTooEarly) {
  // One call with room for many slots: it is the strips of one slot that come too early, and a member then combines a later one.
  ModelCase what{3, {.slots = 8, .narrow = 1, .bulk = 128}, {}, Careless::of_readers};
  what.placement = two_domains(2);
  what.calls.push_back(large_call(Operation::reduce_scatter, BoardMethod::domain_tiles, 3, 0, Sync::mine));
  const std::string wrong = wander(what, kWalks);
  EXPECT_NE(wrong.find("a wrong sum"), std::string::npos) << wrong;
}

TEST_F(BoardModel, TreesByDomainsInEveryOrder) {
  ModelCase what{3, {.slots = 1, .narrow = 1, .bulk = 0}, {}};
  what.placement = two_domains(2);
  what.calls.push_back(call_of(Operation::all_reduce, BoardMethod::tree, 3, 0));
  what.calls.push_back(call_of(Operation::broadcast, BoardMethod::tree, 3, 2));
  all_are_right(what);
}

}  // namespace
}  // namespace aqueduct::coll::model
