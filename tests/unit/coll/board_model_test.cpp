// Short operations in every interleaving of small steps.

#include "tests/unit/coll/board_model_search.hpp"

namespace aqueduct::coll::model {
namespace {

TEST_F(BoardModel, ThreeCallsInARowOfTwoMembersInEveryOrder) {
  for (const std::uint32_t slots : {1u, 2u}) {
    for (const BoardMethod method :
         {BoardMethod::flat, BoardMethod::last, BoardMethod::dissemination, BoardMethod::tree}) {
      for (const Sync sync : {Sync::mine, Sync::all}) {
        ModelCase what{2, {.slots = slots, .narrow = slots, .bulk = 0}, {}};
        for (int i = 0; i < 3; ++i)
          what.calls.push_back(call_of(Operation::all_reduce, method, 2, 0, sync, sync));
        all_are_right(what);
      }
    }
  }
}

TEST_F(BoardModel, BroadcastsAndReductionsWithChangingRootsInEveryOrder) {
  for (const Rank ranks : {2u, 3u}) {
    for (const BoardMethod method : {BoardMethod::flat, BoardMethod::last, BoardMethod::tree}) {
      for (const std::uint32_t way : {1u, 2u}) {
        if (way == 2 && method != BoardMethod::tree) continue;
        ModelCase what{ranks, {.slots = 1, .narrow = 1, .bulk = 0}, {}};
        what.calls.push_back(
            call_of(Operation::broadcast, method, ranks, 0, Sync::mine, Sync::mine, way, way));
        what.calls.push_back(call_of(Operation::reduce, method, ranks, 0, Sync::none, Sync::none, way, way));
        if (ranks == 2)
          what.calls.push_back(
              call_of(Operation::broadcast, method, ranks, ranks - 1, Sync::mine, Sync::mine, 3 - way, way));
        all_are_right(what);
      }
    }
  }
}

/// Calls of which bytes go beside the lines, of which there are more.
void make_long(ModelCase& what) {
  what.room = {.slots = 2, .narrow = 1, .bulk = 128};
  for (ModelCall& call : what.calls) call.shape.bytes = call.shape.pitch = 4 * kWords;
}

TEST_F(BoardModel, MoreLinesThanSlotsBesideThemInEveryOrder) {
  for (const bool is_long : {false, true}) {
    for (const std::uint32_t down : {1u, 2u}) {
      for (const Rank ranks : {2u, 3u}) {
        ModelCase what{ranks, {.slots = 2, .narrow = 1, .bulk = 0}, {}};
        for (int i = 0; i < 3; ++i)
          what.calls.push_back(call_of(Operation::broadcast, BoardMethod::tree, ranks, 0, Sync::mine,
                                       Sync::mine, 2, i == 1 ? 3 - down : down));
        if (is_long) make_long(what);
        all_are_right(what);
      }
    }
    ModelCase what{2, {.slots = 2, .narrow = 1, .bulk = 0}, {}};
    for (int i = 0; i < 3; ++i)
      what.calls.push_back(call_of(Operation::reduce, BoardMethod::tree, 2, 0, Sync::mine, Sync::mine, 2, 2));
    what.calls.push_back(call_of(Operation::all_reduce, BoardMethod::last, 2, 0));
    what.calls.push_back(call_of(Operation::broadcast, BoardMethod::tree, 2, 1));
    if (is_long) make_long(what);
    all_are_right(what);
  }
}

TEST_F(BoardModel, FindsAnInboxThatIsWrittenTooEarly) {
  ModelCase what{2, {.slots = 2, .narrow = 1, .bulk = 0}, {}, Careless::by_one};
  for (int i = 0; i < 3; ++i) what.calls.push_back(call_of(Operation::broadcast, BoardMethod::tree, 2, 0));
  EXPECT_NE(explore(what).wrong, "");
}

TEST_F(BoardModel, AllReducesOfThreeMembersInEveryOrder) {
  for (const BoardMethod method : {BoardMethod::flat, BoardMethod::last, BoardMethod::tree}) {
    ModelCase what{3, {.slots = 1, .narrow = 1, .bulk = 0}, {}};
    what.calls.push_back(call_of(Operation::all_reduce, method, 3, 0, Sync::none, Sync::none, 2, 1));
    if (method == BoardMethod::last)
      what.calls.push_back(call_of(Operation::all_reduce, method, 3, 0, Sync::none, Sync::none, 1, 2));
    all_are_right(what);
  }
}

TEST_F(BoardModel, ScansInEveryOrder) {
  for (const BoardMethod method : {BoardMethod::flat, BoardMethod::chain}) {
    for (const Operation operation : {Operation::scan, Operation::exscan}) {
      for (const Rank ranks : {2u, 3u}) {
        ModelCase what{ranks, {.slots = 1, .narrow = 1, .bulk = 0}, {}};
        for (int i = 0; i < 2; ++i) what.calls.push_back(call_of(operation, method, ranks, 0));
        if (ranks == 2) what.calls.push_back(call_of(operation, method, ranks, 0, Sync::all, Sync::all));
        all_are_right(what);
      }
    }
  }
}

TEST_F(BoardModel, ShortOperationsOfFourMembersInOrdersOfChance) {
  for (const BoardMethod method :
       {BoardMethod::flat, BoardMethod::last, BoardMethod::tree, BoardMethod::dissemination}) {
    for (const std::uint32_t slots : {1u, 2u}) {
      for (const std::uint32_t way : {1u, 2u}) {
        ModelCase what{4, {.slots = slots, .narrow = 1, .bulk = 0}, {}};
        for (Rank i = 0; i < 3; ++i)
          what.calls.push_back(call_of(Operation::all_reduce, method, 4, 0, i == 2 ? Sync::all : Sync::mine,
                                       i == 2 ? Sync::all : Sync::mine, way, 3 - way));
        EXPECT_EQ(wander(what, kWalks), "") << what.calls[0].algorithm->name << ", " << slots << " slots";
        if (method == BoardMethod::dissemination) continue;
        ModelCase rooted{4, {.slots = slots, .narrow = 1, .bulk = 0}, {}};
        rooted.calls.push_back(call_of(Operation::broadcast, method, 4, 1, Sync::mine, Sync::mine, way, way));
        rooted.calls.push_back(call_of(Operation::reduce, method, 4, 0, Sync::none, Sync::none, way, way));
        rooted.calls.push_back(
            call_of(Operation::broadcast, method, 4, 3, Sync::mine, Sync::all, way, 3 - way));
        EXPECT_EQ(wander(rooted, kWalks), "") << rooted.calls[0].algorithm->name << ", " << slots << " slots";
      }
    }
  }
}

// The walks find what the visits of all orders find.
TEST_F(BoardModel, OrdersOfChanceFindASlotThatIsWrittenTooEarly) {
  for (const Rank ranks : {3u, 4u}) {
    ModelCase what{ranks, {.slots = 1, .narrow = 1, .bulk = 0}, {}, Careless::of_readers};
    for (int i = 0; i < 3; ++i)
      what.calls.push_back(call_of(Operation::broadcast, BoardMethod::flat, ranks, 0));
    EXPECT_NE(wander(what, kWalks), "");
  }
}

TEST_F(BoardModel, ADisseminationWithHelpInEveryOrder) {
  ModelCase what{3, {.slots = 1, .narrow = 1, .bulk = 0}, {}};
  for (int i = 0; i < 2; ++i)
    what.calls.push_back(call_of(Operation::all_reduce, BoardMethod::dissemination, 3, 0));
  all_are_right(what);
}

TEST_F(BoardModel, FindsASlotThatIsWrittenTooEarly) {
  ModelCase what{2, {.slots = 1, .narrow = 1, .bulk = 0}, {}, Careless::of_readers};
  for (int i = 0; i < 2; ++i) what.calls.push_back(call_of(Operation::broadcast, BoardMethod::flat, 2, 0));
  EXPECT_NE(explore(what).wrong, "");
}

}  // namespace
}  // namespace aqueduct::coll::model
