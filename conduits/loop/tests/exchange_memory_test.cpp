// Pieces of set-up exchanges for which there is no memory.

#include <aqueduct/aqueduct.hpp>

#include "am/messages.hpp"
#include "coll/barriers.hpp"
#include "coll/exchange.hpp"
#include "coll/wire.hpp"
#include "conduits/loop/tests/allocation_count.hpp"
#include "tests/support/known_packets.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <unistd.h>

namespace aqueduct::conduits::loop {
namespace {

constexpr unsigned kAlarmSeconds = 60;  ///< ends a test in which members wait for one another

class LoopExchangeMemory : public testing::Test {
 protected:
  void SetUp() override {
    ::alarm(kAlarmSeconds);
    Config config;
    ASSERT_TRUE(config.set("conduit", "loop") && config.set("near", "off") &&
                config.set("segment_bytes", "4K") && config.set("log", "off"));
    auto made = Job::in_process(2, config);
    ASSERT_TRUE(made) << made.status().text();
    job_.emplace(std::move(*made));
  }
  void TearDown() override {
    job_.reset();
    ::alarm(0);
  }
  static coll::Exchanges& of(Endpoint& ep) { return ep.state().barriers->exchanges(); }

  /// Delivers 8 of 16 bytes to rank 1, as if rank 0 had sent them down the tree of an exchange of all ranks.
  static void say(Endpoint& ep, std::uint64_t number, std::uint64_t at, bool has_memory) {
    const std::array<std::byte, 8> part{};
    const coll::ExchangePiece piece{ep.world().state().id, number, coll::kDown, 0, at, 2 * part.size()};
    const auto packet = test::packet_of(coll::kExchange, piece, part);
    std::optional<NoMemory> none;
    if (!has_memory) none.emplace();
    ep.state().messages->packet(0, packet.bytes());
  }

  std::optional<Job> job_;
};

// The next exchange ended with no_memory on this member, and well on the others.
TEST_F(LoopExchangeMemory, WhatIsDroppedOfAnExchangeThatIsGivenUpDoesNotEndTheNextOne) {
  job_->run_each([](Endpoint& ep) {
    auto& world = ep.world().state();
    const std::uint64_t number = of(ep).begun(world.id) + 1;
    const std::size_t kept = of(ep).kept();
    if (ep.rank() == 1) say(ep, number, 0, false);
    EXPECT_EQ(of(ep).kept(), kept);
    of(ep).give_up(world.id, number, {ErrorCode::mismatch, 1 - ep.rank()});
    EXPECT_EQ(of(ep).exchange(world, coll::SetUp::team, {}).status().code(), ErrorCode::mismatch);
    const auto all = of(ep).exchange(world, coll::SetUp::team, {});
    EXPECT_TRUE(all) << all.status().text();
  });
}

TEST_F(LoopExchangeMemory, WhatIsDroppedEndsTheWaitForItOnceThoughALaterPieceIsKept) {
  job_->run_each([](Endpoint& ep) {
    auto& world = ep.world().state();
    const std::uint64_t number = of(ep).begun(world.id) + 1;
    if (ep.rank() == 1) {
      say(ep, number, 0, false);
      say(ep, number, 8, true);
    }
    const Status status = of(ep).exchange(world, coll::SetUp::none, {}).status();
    EXPECT_EQ(status, ep.rank() == 1 ? Status(ErrorCode::no_memory, 1) : Status());
    const auto all = of(ep).exchange(world, coll::SetUp::none, {});
    EXPECT_TRUE(all) << all.status().text();
  });
}

TEST(DroppedStreams, BeyondThoseThatAreToldApartEndTheNextWaitForTheirSender) {
  coll::DroppedStreams dropped(2);
  constexpr std::uint64_t kMost = coll::DroppedStreams::kMost;
  for (std::uint64_t number = 1; number <= kMost; ++number) dropped.add({7, number, coll::kUp, 1});
  EXPECT_TRUE(dropped.has({7, kMost, coll::kUp, 1}));
  EXPECT_FALSE(dropped.has({7, kMost, coll::kDown, 1}));
  EXPECT_FALSE(dropped.has({8, 1, coll::kUp, 1}));
  dropped.add({8, 1, coll::kUp, 1});
  EXPECT_TRUE(dropped.has({9, 1, coll::kUp, 1}));
  EXPECT_FALSE(dropped.has({9, 1, coll::kUp, 0}));
  dropped.remove({9, 1, coll::kUp, 1});
  EXPECT_FALSE(dropped.has({8, 1, coll::kUp, 1}));
  dropped.forget(7, kMost - 1);
  EXPECT_FALSE(dropped.has({7, 1, coll::kUp, 1}));
  EXPECT_TRUE(dropped.has({7, kMost, coll::kUp, 1}));
  dropped.forget(7, kMost);
  EXPECT_FALSE(dropped.has({7, kMost, coll::kUp, 1}));
}

}  // namespace
}  // namespace aqueduct::conduits::loop
