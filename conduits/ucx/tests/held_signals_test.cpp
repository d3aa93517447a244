#include "conduits/ucx/held_signals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace aqueduct::conduits::ucx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Taken = std::vector<std::tuple<Rank, SignalSlot, std::uint64_t>>;

Taken take(HeldSignals& held) {
  Taken taken;
  const int count =
      held.take_all([&](Rank from, Signal signal) { taken.emplace_back(from, signal.slot, signal.add); });
  EXPECT_EQ(static_cast<std::size_t>(count), taken.size());
  return taken;
}

TEST(HeldSignals, AddUpByCounterAndNameTheLastRank) {
  HeldSignals held(4);
  EXPECT_TRUE(held.empty());
  EXPECT_TRUE(held.add(1, {3, 5}));
  EXPECT_TRUE(held.add(2, {0, 1}));
  EXPECT_TRUE(held.add(2, {3, 7}));
  EXPECT_FALSE(held.empty());
  EXPECT_THAT(take(held), ElementsAre(std::tuple(2, 3, 12), std::tuple(2, 0, 1)));
  EXPECT_TRUE(held.empty());
  EXPECT_THAT(take(held), IsEmpty());
}

TEST(HeldSignals, OfNoCounterAreRefused) {
  HeldSignals held(4);
  EXPECT_FALSE(held.has(4));
  EXPECT_FALSE(held.add(1, {4, 1}));
  EXPECT_TRUE(held.empty());
}

// A handler of a signal may raise more counters.
TEST(HeldSignals, RaisedDuringTheDeliveryAreNotLost) {
  HeldSignals held(2);
  ASSERT_TRUE(held.add(1, {0, 1}));
  Taken taken;
  held.take_all([&](Rank from, Signal signal) {
    taken.emplace_back(from, signal.slot, signal.add);
    EXPECT_TRUE(held.add(0, {0, 10}));
    EXPECT_TRUE(held.add(0, {1, 20}));
  });
  EXPECT_THAT(taken, ElementsAre(std::tuple(1, 0, 1)));
  EXPECT_FALSE(held.empty());
  EXPECT_THAT(take(held), ElementsAre(std::tuple(0, 0, 10), std::tuple(0, 1, 20)));
}

}  // namespace
}  // namespace aqueduct::conduits::ucx
