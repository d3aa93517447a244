#include "conduits/loop/tests/allocation_count.hpp"
#include "conduits/udp/protocol/held.hpp"

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

TEST(UdpHeld, IsHandedOverInOrderAndSignalsAreAddedUp) {
  Held held;
  ASSERT_TRUE(held.ready(7, 3, 64));
  const std::vector<std::byte> bytes(13);
  held.message(1, bytes);
  held.signalled(1, {.slot = 9, .add = 1});
  held.completed(77, {});
  held.signalled(2, {.slot = 4, .add = 5});
  held.signalled(3, {.slot = 9, .add = 2});
  held.message(2, {});
  held.lost(1);
  Scribe scribe;
  EXPECT_EQ(held.deliver(scribe), 6);
  EXPECT_EQ(scribe.said, (Said{"message 1 of 13", "signal 9 by 3", "end 77", "signal 4 by 5",
                               "message 2 of 0", "lost 1"}));
  EXPECT_TRUE(held.empty());
  held.signalled(3, {.slot = 9, .add = 8});
  held.deliver(scribe);
  EXPECT_EQ(scribe.said.back(), "signal 9 by 8");
}

TEST(UdpHeld, WhatComesWhileItIsHandedOverWaitsForTheNextTime) {
  Held held;
  Scribe scribe;
  const std::vector<std::byte> bytes(100);
  ASSERT_TRUE(held.ready(1, 0, Held::aligned(bytes.size())));
  held.message(1, bytes);
  scribe.meanwhile = [&] {
    ASSERT_TRUE(held.ready(100, 0, 100 * Held::aligned(bytes.size())));
    for (int i = 0; i < 100; ++i) held.message(2, bytes);
  };
  EXPECT_EQ(held.deliver(scribe), 1);
  scribe.meanwhile = {};
  EXPECT_EQ(held.deliver(scribe), 100);
}

// The functions that add events while the owner is away cannot fail, so they must not allocate.
TEST(UdpHeld, TakesWhatItHasRoomForWithoutAskingForMemory) {
  Held held;
  Scribe scribe;
  const std::vector<std::byte> bytes(100);
  ASSERT_TRUE(held.ready(30, 10, 10 * Held::aligned(bytes.size())));
  for (int round = 0; round < 3; ++round) {  // also after the buffers have been swapped
    const auto before = loop::allocations();
    for (unsigned i = 0; i < 10; ++i) {
      held.message(1, bytes);
      held.signalled(1, {.slot = 100 - i, .add = 1});
      held.completed(i, {});
    }
    EXPECT_EQ(loop::allocations(), before) << "round " << round;
    EXPECT_EQ(held.deliver(scribe), 30);
  }
}

TEST(UdpHeld, RefusesWhatNoMachineHas) {
  Held held;
  EXPECT_FALSE(held.ready(0, 0, std::size_t{1} << 63));
  EXPECT_TRUE(held.ready(1));
}

}  // namespace
}  // namespace aqueduct::conduits::udp
