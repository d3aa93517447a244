// Large operations in every interleaving of small steps, or in many.

#include "tests/unit/coll/board_model_search.hpp"

#include <utility>
#include <vector>

namespace aqueduct::coll::model {
namespace {

TEST_F(BoardModel, LargeOperationsInEveryOrder) {
  constexpr auto kMapped = BufferNote::address;
  constexpr auto kCopied = BufferNote::of_process;
  constexpr auto kNowhere = BufferNote::nowhere;
  for (const auto& [in, out] : {std::pair{kMapped, kMapped},
                                {kNowhere, kNowhere},
                                {kNowhere, kMapped},
                                {kCopied, kMapped},
                                {kCopied, kNowhere}}) {
    for (const Sync sync : {Sync::mine, Sync::all}) {
      if (sync == Sync::all && (in == kCopied || in != out)) continue;  // moves bytes as the others do
      for (const BoardMethod method : {BoardMethod::tiles, BoardMethod::claims, BoardMethod::large_tree}) {
        for (const Operation operation : {Operation::all_reduce, Operation::reduce}) {
          ModelCase what{2, kPiecesOfAWord, {}, Careless::no, in, out};
          for (int i = 0; i < 2; ++i) what.calls.push_back(large_call(operation, method, 2, 1, sync));
          all_are_right(what);
        }
      }
      for (const BoardMethod method : {BoardMethod::mapped, BoardMethod::two_stage}) {
        ModelCase what{2, kPiecesOfAWord, {}, Careless::no, in, out};
        for (Rank root = 0; root < 2; ++root)
          what.calls.push_back(large_call(Operation::broadcast, method, 2, root, sync));
        all_are_right(what);
      }
      if (in == kMapped) {  // however they reach each other's buffers
        for (const Operation operation : {Operation::broadcast, Operation::scatter, Operation::gather,
                                          Operation::reduce, Operation::all_reduce, Operation::all_gather}) {
          ModelCase what{2, kPiecesOfAWord, {}, Careless::no, in, out};
          for (Rank root = 0; root < 2; ++root)
            what.calls.push_back(large_call(operation, BoardMethod::stream, 2, root, sync));
          all_are_right(what);
        }
      }
      for (const Operation operation : {Operation::scatter, Operation::gather, Operation::all_gather}) {
        ModelCase what{2, {.slots = 1, .narrow = 1, .bulk = 8}, {}, Careless::no, in, out};
        for (Rank root = 0; root < 2; ++root)
          what.calls.push_back(large_call(operation, BoardMethod::mapped, 2, root, sync));
        all_are_right(what);
      }
    }
  }
}

// The root writes to all, or not, and the others can only know from it.
TEST_F(BoardModel, AScatterAmongThreeInEveryOrder) {
  for (const BufferNote::Kind out : {BufferNote::address, BufferNote::nowhere}) {
    ModelCase what{3, {.slots = 1, .narrow = 1, .bulk = 12}, {}, Careless::no, BufferNote::nowhere, out};
    what.calls.push_back(large_call(Operation::scatter, BoardMethod::mapped, 3, 1, Sync::mine));
    what.calls.back().shape.bytes = what.calls.back().shape.pitch = 4;
    all_are_right(what);
  }
}

// Three operations in a row among three and four members have more orders than can be visited: some of them, by chance.
TEST_F(BoardModel, LargeOperationsOfThreeAndFourMembersInOrdersOfChance) {
  constexpr auto kMapped = BufferNote::address;
  constexpr auto kCopied = BufferNote::of_process;
  constexpr auto kNowhere = BufferNote::nowhere;
  struct Entry {
    Operation operation;
    std::vector<BoardMethod> methods;
  };
  const Entry entries[] = {
      {Operation::broadcast,
       {BoardMethod::mapped, BoardMethod::two_stage, BoardMethod::domains, BoardMethod::large_tree,
        BoardMethod::stream}},
      {Operation::scatter, {BoardMethod::mapped, BoardMethod::stream}},
      {Operation::gather, {BoardMethod::mapped, BoardMethod::stream}},
      {Operation::all_gather, {BoardMethod::mapped, BoardMethod::stream}},
      {Operation::reduce,
       {BoardMethod::tiles, BoardMethod::cyclic_tiles, BoardMethod::claims, BoardMethod::large_tree,
        BoardMethod::stream}},
      {Operation::all_reduce,
       {BoardMethod::tiles, BoardMethod::cyclic_tiles, BoardMethod::claims, BoardMethod::large_tree,
        BoardMethod::stream}},
  };
  for (const Rank ranks : {3u, 4u}) {
    for (const auto& [in, out] : {std::pair{kMapped, kMapped},
                                  {kNowhere, kNowhere},
                                  {kNowhere, kMapped},
                                  {kCopied, kMapped},
                                  {kCopied, kNowhere}}) {
      for (const auto& [operation, methods] : entries) {
        for (const BoardMethod method : methods) {
          if (method == BoardMethod::stream && (in != kMapped || out != kMapped))
            continue;  // reaches no buffer
          ModelCase what{ranks, {.slots = 2, .narrow = 1, .bulk = 4 * ranks}, {}, Careless::no, in, out};
          for (Rank i = 0; i < 3; ++i)
            what.calls.push_back(large_call(operation, method, ranks,
                                            has_root(operation) ? (ranks - 1 + i) % ranks : 0,
                                            i == 2   ? Sync::all
                                            : i == 1 ? Sync::none
                                                     : Sync::mine));
          EXPECT_EQ(wander(what, kWalks), "")
              << what.calls[0].algorithm->name << " of " << ranks << ", operation "
              << static_cast<int>(operation) << ", in " << in << ", out " << out;
        }
      }
    }
  }
}

TEST_F(BoardModel, ClaimsOfThreeMembersInEveryOrder) {
  ModelCase what{3, kPiecesOfAWord, {}};
  what.calls.push_back(call_of(Operation::all_reduce, BoardMethod::claims, 3, 0));
  all_are_right(what);
}

TEST_F(BoardModel, FindsTilesThatAreNotWaitedFor) {
  ModelCase what{2, kPiecesOfAWord, {}, Careless::of_readers};
  what.calls.push_back(large_call(Operation::all_reduce, BoardMethod::claims, 2, 0, Sync::mine));
  EXPECT_NE(explore(what).wrong, "");
}

TEST_F(BoardModel, FindsAnInputThatIsTheProgramsAgainTooEarly) {
  ModelCase what{2, {.slots = 8, .narrow = 1, .bulk = 4}, {}, Careless::of_readers};
  what.calls.push_back(large_call(Operation::reduce, BoardMethod::large_tree, 2, 0, Sync::mine));
  EXPECT_NE(explore(what).wrong.find("a wrong sum"), std::string::npos);
}

TEST_F(BoardModel, FindsAResultThatIsTheProgramsAgainTooEarly) {
  ModelCase what{2, {.slots = 8, .narrow = 1, .bulk = 4}, {}, Careless::of_readers};
  what.calls.push_back(large_call(Operation::all_reduce, BoardMethod::large_tree, 2, 0, Sync::mine));
  EXPECT_NE(explore(what).wrong.find("a wrong sum"), std::string::npos);
}

}  // namespace
}  // namespace aqueduct::coll::model
