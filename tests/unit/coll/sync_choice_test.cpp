// How the members of a call with Sync::mine find out that buffers may be touched: by flags between pairs, by a tree, or by a
// barrier. It is a matter of the operation, the number of members and the size.

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/scratch/banks.hpp"
#include "coll/tune/ranking.hpp"
#include "coll/tune/tuned_chooser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

namespace aqueduct::coll {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A flat network: all pairs of members are alike, and share no links.
std::shared_ptr<const TuningTable> flat_profile() {
  NetworkModel model;
  model.origin = NetworkModel::Origin::profile;
  model.by_size[0] = {0, aqueduct::Picoseconds(2'000'000), aqueduct::Picoseconds(400'000),
                      aqueduct::Picoseconds(100'000), 80'000};
  model.copy_femtoseconds_per_byte = 80'000;
  return std::make_shared<const TuningTable>(TuningTable({model, model}, {}));
}

Shape call_with_mine(Operation operation, Rank ranks, std::uint64_t bytes) {
  Shape shape;
  shape.operation = operation;
  shape.in = shape.out = Sync::mine;
  shape.addresses = Addresses::single;
  shape.ranks = ranks;
  shape.element = 8;
  shape.bytes = shape.pitch = bytes;
  return shape;
}

struct Chosen {
  Choice choice;
  std::string text;
};
Chosen choose_on_flat(const Shape& shape, const ForcedAlgorithms& forced = {}) {
  const TableChooser rules(forced);
  const TunedChooser chooser(rules, flat_profile());
  const TeamTraits team{.ranks = shape.ranks, .one_host = true, .mapped = false};
  const ScratchLayout layout({}, shape.ranks);
  return {chooser.choose(shape, team, layout), chooser.explain(shape, team, layout)};
}

TEST(SyncChoice, IsNoFlagForEachPairInALargeTeam) {
  bool barrier = false;
  for (const Operation operation : {Operation::all_gather, Operation::all_to_all}) {
    for (const std::uint64_t bytes : {8u, 1024u, 65'536u}) {
      const Chosen made = choose_on_flat(call_with_mine(operation, 64, bytes));
      ASSERT_NE(made.choice.algorithm, nullptr) << made.text;
      EXPECT_THAT(made.text, Not(HasSubstr("waits for flags between pairs"))) << bytes;
      barrier |= made.text.find("waits for a barrier by dissemination (384 signals) before it begins") !=
                 std::string::npos;
    }
  }
  EXPECT_TRUE(barrier) << "at least for long blocks";
}

TEST(SyncChoice, IsAFlagForEachPairInASmallTeam) {
  for (const Operation operation : {Operation::all_gather, Operation::all_to_all}) {
    const Chosen made = choose_on_flat(call_with_mine(operation, 3, 65'536));
    EXPECT_THAT(made.text, HasSubstr("\n  direct\n"));
    EXPECT_THAT(made.text, HasSubstr("  waits for flags between pairs of members before it begins\n"));
    EXPECT_THAT(made.text, HasSubstr("not behind-barrier: predicted by replay"));
  }
}

TEST(SyncChoice, OfABarrierSendsTheFewerSignals) {
  for (const Rank ranks : {2u, 3u, 8u, 64u}) {
    const Shape shape = call_with_mine(Operation::all_to_all, ranks, 1024);
    const TeamTraits team{.ranks = ranks, .one_host = false, .mapped = false};
    const ScratchLayout layout({}, ranks);
    const Fit pairs = fit(kAllToAllDirect, {}, shape, team, layout);
    const Fit barrier = fit(kAllToAllBehindBarrier, {}, shape, team, layout);
    ASSERT_EQ(barrier.refusal, nullptr);
    EXPECT_EQ(barrier.shape.in, Sync::all) << "what is more than was asked for";
    const std::uint64_t puts = std::uint64_t{ranks} * (ranks - 1);
    EXPECT_EQ(Schedule::cost(kAllToAllDirect, pairs.shape).messages, 2 * puts);
    EXPECT_EQ(Schedule::cost(kAllToAllBehindBarrier, barrier.shape).messages,
              puts + std::uint64_t{ranks} * rounds_of(ranks, 2));
  }
}

// With Sync::all or Sync::none `direct` does the same, and is there already.
TEST(SyncChoice, IsOpenWithSyncMineAlone) {
  for (const Sync in : {Sync::none, Sync::mine, Sync::all}) {
    Shape shape = call_with_mine(Operation::all_gather, 8, 1024);
    shape.in = in;
    const TeamTraits team{.ranks = 8, .one_host = false, .mapped = false};
    const auto all = candidates_of(key_of(shape, team), team, ScratchLayout({}, 8), true);
    const bool found = std::any_of(
        all.begin(), all.end(), [](const Timed& one) { return one.algorithm == &kAllGatherBehindBarrier; });
    EXPECT_EQ(found, in == Sync::mine);
  }
  // Where members must tell their addresses anyway, it does that, as `direct`.
  Shape local = call_with_mine(Operation::all_gather, 8, 1024);
  local.addresses = Addresses::local;
  ForcedAlgorithms forced{};
  forced[static_cast<std::size_t>(Operation::all_gather)] = {&kAllGatherBehindBarrier, {}};
  EXPECT_THAT(choose_on_flat(local, forced).text,
              HasSubstr("waits for addresses that pairs of members tell each other before it begins\n"));
  const TeamTraits team{.ranks = 8, .one_host = false, .mapped = false};
  for (const Timed& one : candidates_of(key_of(local, team), team, ScratchLayout({}, 8), true))
    EXPECT_NE(one.algorithm, &kAllGatherBehindBarrier);
}

TEST(SyncChoice, IsExplainedForAllModes) {
  Shape shape = call_with_mine(Operation::broadcast, 16, 8);
  shape.in = shape.out = Sync::all;
  EXPECT_THAT(choose_on_flat(shape).text,
              HasSubstr("  waits for signals up a tree to the root (15 signals) before it "
                        "begins, and before it ends for a barrier by dissemination (64 signals)\n"));
  shape.in = shape.out = Sync::none;
  EXPECT_THAT(choose_on_flat(shape).text, Not(HasSubstr("waits for")));
  shape.operation = Operation::gather;
  shape.addresses = Addresses::local;
  shape.in = Sync::mine;
  ForcedAlgorithms forced{};
  forced[static_cast<std::size_t>(Operation::gather)] = {&kGatherDirect, {}};
  EXPECT_THAT(choose_on_flat(shape, forced).text,
              HasSubstr("waits for addresses that pairs of members tell each other"));
}

}  // namespace
}  // namespace aqueduct::coll
