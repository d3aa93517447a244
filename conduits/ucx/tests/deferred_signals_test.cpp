#include "conduits/ucx/deferred_signals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace aqueduct::conduits::ucx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Taken = std::vector<std::tuple<Rank, SignalSlot, std::uint64_t>>;

Taken take(DeferredSignals& deferred) {
  Taken taken;
  const int count =
      deferred.take_all([&](Rank from, Signal signal) { taken.emplace_back(from, signal.slot, signal.add); });
  EXPECT_EQ(static_cast<std::size_t>(count), taken.size());
  return taken;
}

TEST(DeferredSignals, AddUpByCounterAndNameTheLastRank) {
  DeferredSignals deferred(4);
  EXPECT_TRUE(deferred.empty());
  EXPECT_TRUE(deferred.add(1, {3, 5}));
  EXPECT_TRUE(deferred.add(2, {0, 1}));
  EXPECT_TRUE(deferred.add(2, {3, 7}));
  EXPECT_FALSE(deferred.empty());
  EXPECT_THAT(take(deferred), ElementsAre(std::tuple(2, 3, 12), std::tuple(2, 0, 1)));
  EXPECT_TRUE(deferred.empty());
  EXPECT_THAT(take(deferred), IsEmpty());
}

TEST(DeferredSignals, OfNoCounterAreRefused) {
  DeferredSignals deferred(4);
  EXPECT_FALSE(deferred.has(4));
  EXPECT_FALSE(deferred.add(1, {4, 1}));
  EXPECT_TRUE(deferred.empty());
}

// A handler of a signal may raise more counters.
TEST(DeferredSignals, RaisedDuringTheDeliveryAreNotLost) {
  DeferredSignals deferred(2);
  ASSERT_TRUE(deferred.add(1, {0, 1}));
  Taken taken;
  deferred.take_all([&](Rank from, Signal signal) {
    taken.emplace_back(from, signal.slot, signal.add);
    EXPECT_TRUE(deferred.add(0, {0, 10}));
    EXPECT_TRUE(deferred.add(0, {1, 20}));
  });
  EXPECT_THAT(taken, ElementsAre(std::tuple(1, 0, 1)));
  EXPECT_FALSE(deferred.empty());
  EXPECT_THAT(take(deferred), ElementsAre(std::tuple(0, 0, 10), std::tuple(0, 1, 20)));
}

}  // namespace
}  // namespace aqueduct::conduits::ucx
