#include "conduits/loop/tests/allocation_count.hpp"
#include "conduits/udp/tests/connection_traffic.hpp"

#include <gtest/gtest.h>

namespace aqueduct::conduits::udp::connection_tests {
namespace {

TEST(UdpConnectionMemory, WhatAnUpperLayerHasNoMemoryForComesAgainUntilItHas) {
  TwoConnections pair;
  const Buffer eight(8);
  const Signal signal{.slot = 5, .add = 1};
  pair.b.upper.segments = {Buffer(8)};
  pair.b.upper.has_memory = false;
  send(pair.a, 100);
  pair.a.connection->put(0, 0, eight, &signal, 1);
  pair.run(100 * kMillisecond);
  EXPECT_EQ(pair.b.upper.asked_messages, 1u);
  EXPECT_GE(pair.b.upper.asked_bytes, 100u);
  EXPECT_EQ(pair.b.upper.asked_signals, 1u);
  EXPECT_TRUE(pair.b.upper.messages.empty());
  EXPECT_TRUE(pair.a.upper.completions.empty());
  pair.b.upper.has_memory = true;
  ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
  EXPECT_EQ(pair.b.upper.messages.size(), 1u);
  EXPECT_EQ(pair.b.upper.signals.size(), 1u);
  EXPECT_EQ(pair.a.upper.completions.size(), 1u);
}

/// Runs for at most ten seconds, and looks at one end's timers as often as an endpoint does at least. Returns whether
/// that end has had no memory for too long.
template <class Before>
bool runs_out_of_memory(TwoConnections& pair, Station& station, const Before& before) {
  for (int i = 0; i < 20; ++i) {
    before();
    pair.run(kSecond / 2);
    if (station.connection->tick(pair.now()) == Connection::Liveness::no_memory) return true;
  }
  return false;
}

// The peer lives and answers, so nothing but this ends what is sent again and again.
TEST(UdpConnectionMemory, APeerForWhosePacketsThereIsNoMemoryIsLost) {
  TwoConnections pair;
  pair.b.upper.has_memory = false;
  send(pair.a, 100);
  const Time began = pair.now();
  EXPECT_TRUE(runs_out_of_memory(pair, pair.b, [] {}));
  EXPECT_GE(pair.now() - began, pair.b.common.no_memory_limit());
  EXPECT_LT(pair.now() - began, pair.b.common.timeout) << "a silent end would have been given up before";
  EXPECT_NE(pair.b.connection->text(pair.now()).find("lack of memory"), std::string::npos);
}

TEST(UdpConnectionMemory, APeerToWhichNothingCanBeSentForLackOfMemoryIsLost) {
  TwoConnections pair;
  const Buffer long_one(4000);
  const Time began = pair.now();
  const auto post = [&] {
    core::Post::Kind kind{};
    {
      const loop::NoMemory none;
      kind = pair.a.connection->put(0, 0, long_one, nullptr, 1).kind;
    }
    EXPECT_EQ(kind, core::Post::Kind::retry);
  };
  EXPECT_TRUE(runs_out_of_memory(pair, pair.a, post));
  EXPECT_GE(pair.now() - began, pair.a.common.no_memory_limit());
  EXPECT_LT(pair.now() - began, pair.a.common.timeout);
}

// What the peer sends otherwise arrives, so the endpoint goes on.
TEST(UdpConnectionMemory, AShortageOfMemoryDoesNotEndAConnectionOnWhichSomethingMoves) {
  TwoConnections pair;
  for (int i = 0; i < 20; ++i) {
    pair.b.upper.has_memory = false;
    send(pair.a, 100);
    pair.run(kSecond);
    pair.b.upper.has_memory = true;
    ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); })) << i;
  }
  EXPECT_FALSE(pair.b.lost);
}

}  // namespace
}  // namespace aqueduct::conduits::udp::connection_tests
