// Sync::all: when a call ends on one member, the buffers of all are final. So members also stop behind their stores here.

#include "tests/unit/coll/board_model_search.hpp"

#include <utility>
#include <vector>

namespace aqueduct::coll::model {
namespace {

/// Two calls, by changing roots.
ModelCase ending_case(Operation operation, BoardMethod method, Rank ranks, bool large, Sync in) {
  ModelCase what{ranks, {.slots = 2, .narrow = 1, .bulk = large ? 4 * ranks : 0}, {}};
  what.stops_behind_stores = true;
  for (Rank i = 0; i < 2; ++i) {
    // A tree's sum begins at its root.
    const bool any_root =
        has_root(operation) && (operation != Operation::reduce || method != BoardMethod::tree);
    const Rank root = any_root ? (ranks - 1 + i) % ranks : 0;
    what.calls.push_back(large ? large_call(operation, method, ranks, root, Sync::all)
                               : call_of(operation, method, ranks, root, in, Sync::all));
    what.calls.back().shape.in = in;
  }
  return what;
}

TEST_F(BoardModel, ShortOperationsEndWhenTheBuffersOfAllAreFinal) {
  using enum Collective;
  const std::pair<BoardMethod, std::vector<Operation>> entries[] = {
      {BoardMethod::flat, {broadcast, scatter, gather, reduce, all_reduce, all_gather, scan}},
      {BoardMethod::tree, {broadcast, reduce, all_reduce}},
      {BoardMethod::last, {all_reduce}},
      {BoardMethod::dissemination, {all_reduce}}};
  for (const auto& [method, operations] : entries) {
    for (const Operation operation : operations) {
      for (const Sync in : {Sync::all, Sync::mine}) {
        const auto about = [&, how = method] {
          return "method " + std::to_string(static_cast<int>(how)) + ", operation " +
                 std::to_string(static_cast<int>(operation)) + ", in " + std::to_string(static_cast<int>(in));
        };
        EXPECT_EQ(explore(ending_case(operation, method, 2, false, in)).wrong, "") << about();
        EXPECT_EQ(wander(ending_case(operation, method, 3, false, in), kWalks), "") << about();
      }
    }
  }
}

TEST_F(BoardModel, LargeOperationsEndWhenTheBuffersOfAllAreFinal) {
  using enum Collective;
  const std::pair<BoardMethod, std::vector<Operation>> entries[] = {
      {BoardMethod::stream, {broadcast, scatter, gather, reduce, all_reduce, all_gather}},
      {BoardMethod::mapped, {broadcast, scatter, gather, all_gather}},
      {BoardMethod::two_stage, {broadcast}},
      {BoardMethod::large_tree, {broadcast, reduce, all_reduce}},
      {BoardMethod::tiles, {reduce, all_reduce}},
      {BoardMethod::claims, {reduce, all_reduce}}};
  for (const auto& [method, operations] : entries) {
    for (const Operation operation : operations) {
      for (const Rank ranks : {2u, 3u}) {
        for (const BufferNote::Kind buffers : {BufferNote::address, BufferNote::nowhere}) {
          ModelCase what = ending_case(operation, method, ranks, true, Sync::all);
          what.in = what.out = buffers;
          EXPECT_EQ(wander(what, kWalks), "")
              << "method " << static_cast<int>(method) << ", operation " << static_cast<int>(operation)
              << ", " << ranks << " members, buffers " << buffers;
        }
      }
    }
  }
}

}  // namespace
}  // namespace aqueduct::coll::model
