#include "conduits/udp/tests/connection_traffic.hpp"

#include <gtest/gtest.h>

namespace aqueduct::conduits::udp::connection_tests {
namespace {

PacketHeader header_of(core::Bytes datagram) {
  PacketHeader header;
  std::memcpy(&header, datagram.data(), sizeof header);
  return header;
}

TEST(UdpConnectionTime, AQuietNetworkEndsQuiet) {
  TwoConnections pair;
  Traffic there(pair, pair.a, 3, 60);
  Traffic back(pair, pair.b, 4, 60);
  ASSERT_TRUE(pair.run(kSecond, [&] {
    there.post();
    back.post();
    pair.serve(pair.a);
    pair.serve(pair.b);
    return there.over() && back.over();
  }));
  pair.run(200 * kMillisecond);  // for the last acknowledgements and probes
  std::uint64_t heartbeats = 0, answers = 0, others = 0;
  pair.on_sent = [&](const Station&, core::Bytes datagram) {
    const PacketKind kind = header_of(datagram).kind;
    ++(kind == PacketKind::ping ? heartbeats : kind == PacketKind::control ? answers : others);
  };
  pair.run(20 * kSecond);
  EXPECT_EQ(others, 0u);
  EXPECT_EQ(answers, heartbeats);
  EXPECT_GE(heartbeats, 19u);  // one of the two sends a ping each second, and both hear from the other
  EXPECT_LE(heartbeats, 40u);
  EXPECT_FALSE(pair.a.lost || pair.b.lost);
}

TEST(UdpConnectionTime, OneMessageIsTwoPackets) {
  TwoConnections pair({.most_datagram = 1200});  // nothing to probe for
  pair.serve(pair.a);
  ASSERT_EQ(send(pair.a, 8).kind, core::Post::Kind::done);
  pair.run(100 * kMillisecond);
  EXPECT_EQ(pair.a.packets_sent, 1u);
  EXPECT_EQ(pair.b.packets_sent, 1u);
}

// The last packet is lost, and no later packet reveals it. It is retransmitted within the probe timeout.
TEST(UdpConnectionTime, ALostTailIsRepairedByTheProbe) {
  TwoConnections pair({.most_datagram = 1200});
  for (int i = 0; i < 20; ++i) {  // so that the round trip is known: 100 us
    send(pair.a, 700);
    ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
  }
  const std::size_t before = pair.b.upper.messages.size();
  int drop = 1;
  pair.drops = [&](const Station& from, core::Bytes) { return &from == &pair.a && drop-- > 0; };
  const Time sent_at = pair.now();
  send(pair.a, 700);
  ASSERT_TRUE(pair.run(kSecond, [&] { return pair.b.upper.messages.size() == before + 1; }));
  EXPECT_LE(pair.now() - sent_at, 1500 * kMicrosecond);
  EXPECT_EQ(pair.a.connection->counters().probes, 1u);
  EXPECT_EQ(pair.a.connection->counters().timeouts, 0u);
}

// The probe and the first timeouts come at a constant interval until a round trip has been measured.
TEST(UdpConnectionTime, AFirstContactSurvivesFiveLossesWithoutALongWait) {
  TwoConnections pair({.most_datagram = 1200});
  int drop = 5;
  pair.drops = [&](const Station& from, core::Bytes) { return &from == &pair.a && drop-- > 0; };
  const Time sent_at = pair.now();
  send(pair.a, 8);
  ASSERT_TRUE(pair.run(kSecond, [&] { return pair.b.upper.messages.size() == 1; }));
  EXPECT_LE(pair.now() - sent_at, 200 * kMillisecond);
}

// A peer that does not run yet is not flooded: the interval doubles after the constant timeouts.
TEST(UdpConnectionTime, AFirstContactDoesNotFloodAPeerThatDoesNotRunYet) {
  TwoConnections pair({.most_datagram = 1200});
  pair.drops = [&](const Station& from, core::Bytes) { return &from == &pair.a; };
  send(pair.a, 8);
  pair.run(800 * kMillisecond);
  EXPECT_LE(pair.a.packets_sent, 9u);
}

// All of the tail but its beginning is lost. The acknowledgement of the tail-loss probe reveals the rest.
TEST(UdpConnectionTime, ALongLostTailIsRepairedWithoutTheLongTimer) {
  TwoConnections pair({.most_datagram = 1200});
  for (int i = 0; i < 20; ++i) {
    send(pair.a, 700);
    ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
  }
  const std::size_t before = pair.b.upper.messages.size();
  int seen = 0;
  pair.drops = [&](const Station& from, core::Bytes) {
    if (&from != &pair.a) return false;
    ++seen;
    return seen >= 3 && seen <= 8;
  };
  const Time sent_at = pair.now();
  for (int i = 0; i < 8; ++i) ASSERT_EQ(send(pair.a, 700).kind, core::Post::Kind::done);
  ASSERT_TRUE(pair.run(kSecond, [&] { return pair.b.upper.messages.size() == before + 8; }));
  EXPECT_LE(pair.now() - sent_at, 3 * kMillisecond);
  EXPECT_EQ(pair.a.connection->counters().timeouts, 0u);
}

// The peer's window has shrunk below what is in flight. The tail-loss probe must leave all the same; otherwise only the
// retransmission timeout would help.
TEST(UdpConnectionTime, TheProbeDoesNotWaitForTheWindow) {
  TwoConnections pair({.most_datagram = 1200});
  for (int i = 0; i < 20; ++i) {
    send(pair.a, 700);
    ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
  }
  const std::size_t before = pair.b.upper.messages.size();
  int drop = 2;
  pair.drops = [&](const Station& from, core::Bytes datagram) {
    return &from == &pair.a && header_of(datagram).kind == PacketKind::data && drop-- > 0;
  };
  send(pair.a, 700);
  send(pair.a, 700);
  const Time sent_at = pair.now();
  pair.b.common.window = 1000;
  send(pair.b, 8);  // its acknowledgement carries the new window
  ASSERT_TRUE(pair.run(kSecond, [&] { return pair.b.upper.messages.size() == before + 2; }));
  EXPECT_LE(pair.now() - sent_at, 2 * kMillisecond);
  EXPECT_EQ(pair.a.connection->counters().timeouts, 0u);
}

// A packet in the middle is lost. Later packets reveal it after a round trip; no timer is needed.
TEST(UdpConnectionTime, AHoleIsRepairedInTwoRoundTrips) {
  TwoConnections pair({.most_datagram = 1200});
  for (int i = 0; i < 20; ++i) {
    send(pair.a, 700);
    ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
  }
  const std::size_t before = pair.b.upper.messages.size();
  int seen = 0;
  pair.drops = [&](const Station& from, core::Bytes) { return &from == &pair.a && ++seen == 2; };
  const Time sent_at = pair.now();
  for (int i = 0; i < 6; ++i) ASSERT_EQ(send(pair.a, 700).kind, core::Post::Kind::done);
  ASSERT_TRUE(pair.run(kSecond, [&] { return pair.b.upper.messages.size() == before + 6; }));
  EXPECT_LE(pair.now() - sent_at, 300 * kMicrosecond);
  EXPECT_EQ(pair.a.connection->counters().retransmitted, 1u);
  EXPECT_EQ(pair.a.connection->counters().probes + pair.a.connection->counters().timeouts, 0u);
}

// A packet is overtaken, counts as lost, and leaves again; then its first copy arrives. Packets that left between the two copies
// may still be under way, and are not lost because of that.
TEST(UdpConnectionTime, ALateFirstCopyDoesNotMakeOthersLost) {
  TwoConnections pair({.most_datagram = 1200});
  for (int i = 0; i < 20; ++i) {
    send(pair.a, 700);
    ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
  }
  std::vector<Buffer> held;
  pair.drops = [&](const Station& from, core::Bytes datagram) {
    if (&from != &pair.a) return false;
    held.emplace_back(datagram.begin(), datagram.end());
    return true;
  };
  const Time begin = pair.now();
  const auto at = [&](Time us) { pair.run(begin + us * kMicrosecond - pair.now()); };
  const auto leaves = [&](Time us) {
    at(us);
    send(pair.a, 700);
    pair.serve(pair.a);
  };
  const auto arrives = [&](Time us, std::size_t which) {
    at(us);
    ASSERT_LT(which, held.size());
    EXPECT_EQ(pair.hand_over(pair.b, held[which]), Connection::Verdict::taken);
    pair.serve(pair.b);  // its acknowledgement takes 50 us
  };
  leaves(0);
  leaves(40);
  arrives(90, 1);
  leaves(100);
  leaves(110);
  at(141);
  ASSERT_EQ(held.size(), 5u);
  ASSERT_EQ(pair.a.connection->counters().retransmitted, 1u);
  arrives(142, 3);
  arrives(143, 0);  // the first copy
  arrives(150, 2);
  at(201);
  EXPECT_EQ(pair.a.connection->counters().retransmitted, 1u);
  EXPECT_TRUE(pair.a.connection->settled());
}

TEST(UdpConnectionTime, ASilentPeerIsLostAfterTheTimeoutAndNotBefore) {
  for (const bool busy : {false, true}) {
    SCOPED_TRACE(busy);
    TwoConnections pair;
    send(pair.a, 100);
    ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
    const Time heard = pair.a.connection->heard_at();
    pair.both({.loss = 1});
    if (busy) send(pair.a, 100);
    pair.run(heard + pair.a.common.timeout - 1 - pair.now());
    EXPECT_FALSE(pair.a.lost);
    pair.run(2);
    EXPECT_TRUE(pair.a.lost);
    EXPECT_EQ(pair.idle_spins, 0u);
  }
}

TEST(UdpConnectionTime, APeerThatNeverAnsweredIsLostToo) {
  TwoConnections pair;
  pair.both({.loss = 1});
  const Buffer from(2000);
  ASSERT_EQ(pair.a.connection->put(0, 0, from, nullptr, 9).kind, core::Post::Kind::posted);
  pair.run(pair.a.common.timeout - 1);
  EXPECT_FALSE(pair.a.lost);
  pair.run(2);
  EXPECT_TRUE(pair.a.lost);
  ASSERT_EQ(pair.a.upper.completions.size(), 1u);
  EXPECT_EQ(pair.a.upper.completions[0].token, 9u);
  EXPECT_EQ(pair.a.upper.completions[0].status.code(), ErrorCode::peer_lost);
}

TEST(UdpConnectionTime, APeerThatPausesIsNotLost) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE(seed);
    TwoConnections pair({.seed = seed});
    pair.both({.loss = 0.01});
    Traffic there(pair, pair.a, seed, 300);
    Traffic back(pair, pair.b, seed + 100, 300);
    bool paused = false;
    EXPECT_TRUE(pair.run(20 * kSecond, [&] {
      there.post();
      if (!paused || pair.b.paused_until == 0) back.post();
      pair.serve(pair.a);
      pair.serve(pair.b);
      if (!paused && pair.now() >= TwoConnections::kBegin + 2 * kMillisecond) {
        pair.pause(pair.b, 3 * kSecond);
        paused = true;
      }
      return there.over() && back.over();
    }));
    EXPECT_TRUE(paused);
    EXPECT_GE(pair.now() - TwoConnections::kBegin, 3 * kSecond);
    EXPECT_LE(pair.now() - TwoConnections::kBegin, 4 * kSecond);
    there.check();
    back.check();
    EXPECT_FALSE(pair.a.lost || pair.b.lost);
  }
}

TEST(UdpConnectionTime, AnOutageEndsAndTrafficResumesSoon) {
  TwoConnections pair;
  Traffic there(pair, pair.a, 1, 400);
  Time dark_until = 0;
  pair.drops = [&](const Station&, core::Bytes) { return pair.now() < dark_until; };
  EXPECT_TRUE(pair.run(20 * kSecond, [&] {
    there.post();
    pair.serve(pair.a);
    if (dark_until == 0 && pair.now() >= TwoConnections::kBegin + 2 * kMillisecond)
      dark_until = pair.now() + 4 * kSecond;
    return there.over();
  }));
  EXPECT_NE(dark_until, 0);
  EXPECT_GE(pair.now(), dark_until);
  EXPECT_LE(pair.now(), dark_until + 500 * kMillisecond);
  there.check();
}

TEST(UdpConnectionTime, AFarewellIsHeard) {
  TwoConnections pair;
  send(pair.a, 100);
  ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
  pair.send_close(pair.a);
  pair.run(kMillisecond);
  EXPECT_TRUE(pair.b.closed);
  EXPECT_FALSE(pair.a.closed);
}

}  // namespace
}  // namespace aqueduct::conduits::udp::connection_tests
