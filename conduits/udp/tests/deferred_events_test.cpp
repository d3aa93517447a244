#include "conduits/loop/tests/allocation_count.hpp"
#include "conduits/udp/protocol/deferred_events.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace aqueduct::conduits::udp {
namespace {

/// Records each call as a short text.
class Scribe final : public core::Inbox {
 public:
  std::vector<std::string> said;
  std::function<void()> meanwhile;

  void packet(Rank from, core::Bytes packet) noexcept override {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(packet.data()) % 8, 0u);
    said.push_back("message " + std::to_string(from) + " of " + std::to_string(packet.size()));
    if (meanwhile) meanwhile();
  }
  void completed(core::Token token, Status) noexcept override {
    said.push_back("end " + std::to_string(token));
  }
  void signalled(Rank, Signal signal) noexcept override {
    said.push_back("signal " + std::to_string(signal.slot) + " by " + std::to_string(signal.add));
  }
  void lost(Rank peer) noexcept override { said.push_back("lost " + std::to_string(peer)); }
};

using Said = std::vector<std::string>;

TEST(UdpDeferredEvents, IsHandedOverInOrderAndSignalsAreAddedUp) {
  DeferredEvents deferred;
  ASSERT_TRUE(deferred.reserve(7, 3, 64));
  const std::vector<std::byte> bytes(13);
  deferred.message(1, bytes);
  deferred.signalled(1, {.slot = 9, .add = 1});
  deferred.completed(77, {});
  deferred.signalled(2, {.slot = 4, .add = 5});
  deferred.signalled(3, {.slot = 9, .add = 2});
  deferred.message(2, {});
  deferred.lost(1);
  Scribe scribe;
  EXPECT_EQ(deferred.deliver(scribe), 6);
  EXPECT_EQ(scribe.said, (Said{"message 1 of 13", "signal 9 by 3", "end 77", "signal 4 by 5",
                               "message 2 of 0", "lost 1"}));
  EXPECT_TRUE(deferred.empty());
  deferred.signalled(3, {.slot = 9, .add = 8});
  deferred.deliver(scribe);
  EXPECT_EQ(scribe.said.back(), "signal 9 by 8");
}

TEST(UdpDeferredEvents, WhatComesWhileItIsHandedOverWaitsForTheNextTime) {
  DeferredEvents deferred;
  Scribe scribe;
  const std::vector<std::byte> bytes(100);
  ASSERT_TRUE(deferred.reserve(1, 0, DeferredEvents::aligned(bytes.size())));
  deferred.message(1, bytes);
  scribe.meanwhile = [&] {
    ASSERT_TRUE(deferred.reserve(100, 0, 100 * DeferredEvents::aligned(bytes.size())));
    for (int i = 0; i < 100; ++i) deferred.message(2, bytes);
  };
  EXPECT_EQ(deferred.deliver(scribe), 1);
  scribe.meanwhile = {};
  EXPECT_EQ(deferred.deliver(scribe), 100);
}

// The functions that add events while the owner is away cannot fail, so they must not allocate.
TEST(UdpDeferredEvents, TakesWhatItHasRoomForWithoutAskingForMemory) {
  DeferredEvents deferred;
  Scribe scribe;
  const std::vector<std::byte> bytes(100);
  ASSERT_TRUE(deferred.reserve(30, 10, 10 * DeferredEvents::aligned(bytes.size())));
  for (int round = 0; round < 3; ++round) {  // also after the buffers have been swapped
    const auto before = loop::allocations();
    for (unsigned i = 0; i < 10; ++i) {
      deferred.message(1, bytes);
      deferred.signalled(1, {.slot = 100 - i, .add = 1});
      deferred.completed(i, {});
    }
    EXPECT_EQ(loop::allocations(), before) << "round " << round;
    EXPECT_EQ(deferred.deliver(scribe), 30);
  }
}

// Nobody could report an event that is not delivered.
TEST(UdpDeferredEvents, HandsOverWhatHasComeThoughThereIsNoMemoryLeft) {
  DeferredEvents deferred;
  Scribe scribe;
  scribe.said.reserve(100);
  ASSERT_TRUE(deferred.reserve(5));
  for (unsigned i = 0; i < 5; ++i) deferred.completed(i, {});
  ASSERT_TRUE(deferred.reserve(50));  // grows while events wait
  {
    const loop::NoMemory none;
    EXPECT_EQ(deferred.deliver(scribe), 5);
    for (unsigned i = 0; i < 50; ++i) deferred.completed(i, {});
    EXPECT_EQ(deferred.deliver(scribe), 50);
  }
  // The same, if the room grows in the middle of a delivery.
  ASSERT_TRUE(deferred.reserve(2, 0, 16));
  deferred.message(1, {});
  scribe.meanwhile = [&] { EXPECT_TRUE(deferred.reserve(90)); };
  EXPECT_EQ(deferred.deliver(scribe), 1);
  scribe.meanwhile = {};
  scribe.said.clear();
  const loop::NoMemory none;
  for (int round = 0; round < 3; ++round) {
    for (unsigned i = 0; i < 90; ++i) deferred.completed(i, {});
    EXPECT_EQ(deferred.deliver(scribe), 90);
    scribe.said.clear();
  }
}

// One buffer has grown and the other has not: what is promised must have room in both.
TEST(UdpDeferredEvents, PromisesNothingAfterHalfOfItHasGrown) {
  for (std::uint64_t left = 0; left < 4; ++left) {
    DeferredEvents deferred;
    Scribe scribe;
    scribe.said.reserve(1000);
    ASSERT_TRUE(deferred.reserve(50));
    bool grown = false;
    {
      const loop::NoMemory none(left);
      grown = deferred.reserve(200);
    }
    const loop::NoMemory none;
    for (int round = 0; round < 3; ++round) {
      ASSERT_EQ(deferred.reserve(200), grown) << left << " allocations succeeded, round " << round;
      const unsigned events = grown ? 200 : 50;
      for (unsigned i = 0; i < events; ++i) deferred.completed(i, {});
      EXPECT_EQ(deferred.deliver(scribe), static_cast<int>(events));
      scribe.said.clear();
    }
  }
}

TEST(UdpDeferredEvents, RefusesWhatNoMachineHas) {
  DeferredEvents deferred;
  EXPECT_FALSE(deferred.reserve(0, 0, std::size_t{1} << 63));
  EXPECT_TRUE(deferred.reserve(1));
}

}  // namespace
}  // namespace aqueduct::conduits::udp
