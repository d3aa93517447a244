#include "conduits/loop/tests/allocation_count.hpp"
#include "conduits/udp/tests/connection_traffic.hpp"

#include <gtest/gtest.h>

namespace aqueduct::conduits::udp::connection_tests {
namespace {

PacketHeader header_of(core::Bytes datagram) {
  PacketHeader header;
  std::memcpy(&header, datagram.data(), sizeof header);
  return header;
}

core::Post send(Station& from, std::size_t bytes, std::byte fill = std::byte{5}) {
  const Buffer payload(bytes, fill);
  return from.connection->send({}, payload);
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

TEST(UdpConnectionTime, ABlackHoleInMidStreamIsSurvived) {
  for (const Security security : {Security::none, Security::header, Security::full}) {
    SCOPED_TRACE(static_cast<int>(security));
    TwoConnections pair({.security = security, .mtu_hint = 8972});
    pair.both({.mtu = 8972});
    Traffic there(pair, pair.a, 1, 400);
    EXPECT_TRUE(pair.run(20 * kSecond, [&] {
      there.post();
      pair.serve(pair.a);
      if (pair.now() >= TwoConnections::kBegin + 2 * kMillisecond) pair.a.out.mtu = 1300;
      return there.over();
    }));
    EXPECT_EQ(pair.a.out.mtu, 1300u);
    EXPECT_LE(pair.now() - TwoConnections::kBegin, kSecond);
    there.check();
    EXPECT_FALSE(pair.a.lost || pair.b.lost);
  }
}

// Small packets still arrive, so the retransmission timer never expires.
TEST(UdpConnectionTime, ABlackHoleIsNoticedThoughSmallPacketsGetThrough) {
  TwoConnections pair({.mtu_hint = 8972});
  pair.both({.mtu = 8972});
  const auto settle = [&] { return pair.run(kSecond, [&] { return pair.a.connection->settled(); }); };
  for (int i = 0; i < 20; ++i) {
    send(pair.a, 4000);
    ASSERT_TRUE(settle());
  }
  pair.a.out.mtu = 1300;
  const std::size_t before = pair.b.upper.messages.size();
  const auto large = [&] {
    return std::any_of(pair.b.upper.messages.begin() + static_cast<std::ptrdiff_t>(before),
                       pair.b.upper.messages.end(), [](const Buffer& one) { return one.size() == 4000; });
  };
  const Time shrank_at = pair.now();
  send(pair.a, 4000);
  Time again = 0;
  EXPECT_TRUE(pair.run(2 * kSecond, [&] {
    if (pair.now() >= again) {
      again = pair.now() + 60 * kMicrosecond;
      send(pair.a, 16);
      pair.serve(pair.a);
    }
    return large();
  }));
  EXPECT_LE(pair.now() - shrank_at, 10 * kMillisecond);
}

// Like IPv6 over Ethernet whose route changes to a tunnel with the minimum MTU, without any report of that.
TEST(UdpConnectionTime, AnIpv6PathThatShrinksToItsLeastIsUsedAsItIsThen) {
  constexpr std::size_t kHeaders = 40 + 8, kEthernet = 1500 - kHeaders, kLeast = 1280 - kHeaders;
  TwoConnections pair({.mtu_hint = kEthernet});
  pair.both({.mtu = kEthernet});
  std::size_t longest = 0, cut = 0;
  pair.on_sent = [&](const Station& from, core::Bytes datagram) {
    if (&from != &pair.a) return;
    longest = std::max(longest, datagram.size());
    cut += pair.a.out.mtu == kLeast && datagram.size() > kLeast ? 1 : 0;
  };
  const auto settle = [&] { return pair.run(kSecond, [&] { return pair.a.connection->settled(); }); };
  const auto round = [&] {
    send(pair.a, 8000);
    ASSERT_TRUE(settle());
  };
  for (int i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(round());
  EXPECT_GT(longest, kEthernet - 8);
  pair.a.out.mtu = kLeast;
  for (int i = 0; i < 200; ++i) {  // a new search takes a while: three probes for each size that is too long
    ASSERT_NO_FATAL_FAILURE(round());
    pair.run(10 * kMillisecond);
  }
  EXPECT_EQ(pair.b.upper.messages.size(), 220u);
  longest = cut = 0;
  for (int i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(round());
  EXPECT_GT(longest, kLeast - 8);  // more than the 1200 bytes with which the search begins
  EXPECT_LE(longest, kLeast);
  EXPECT_EQ(cut, 0u);
}

// Over IPv6, or without a router, nothing fragments the packets that were built before the path's MTU shrank.
TEST(UdpConnectionTime, APathOnWhichNobodyCutsEndsTheConnectionInTime) {
  TwoConnections pair({.mtu_hint = 8972});
  pair.both({.mtu = 8972});
  pair.drops = [&](const Station&, core::Bytes datagram) { return datagram.size() > pair.a.out.mtu; };
  const auto settle = [&] { return pair.run(kSecond, [&] { return pair.a.connection->settled(); }); };
  for (int i = 0; i < 20; ++i) {
    send(pair.a, 4000);
    ASSERT_TRUE(settle());
  }
  pair.a.out.mtu = 1232;
  send(pair.a, 4000);
  const Time shrank_at = pair.now();
  Time again = 0;
  EXPECT_TRUE(pair.run(20 * kSecond, [&] {
    if (pair.now() >= again) {  // short packets arrive all the time
      again = pair.now() + kMillisecond;
      send(pair.a, 16);
      pair.serve(pair.a);
    }
    return pair.a.lost;
  }));
  EXPECT_EQ(pair.a.life, Connection::Liveness::black_hole);
  EXPECT_TRUE(pair.a.connection->settled());
  EXPECT_GE(pair.now() - shrank_at, pair.a.common.timeout);
  EXPECT_LE(pair.now() - shrank_at, pair.a.common.timeout * 3 / 2);
  EXPECT_FALSE(pair.b.lost);
}

TEST(UdpConnectionTime, AnOutageIsNotTakenForAPathOnWhichNobodyCuts) {
  TwoConnections pair({.mtu_hint = 8972});
  pair.both({.mtu = 8972});
  Time dark_until = 0;
  pair.drops = [&](const Station&, core::Bytes) { return pair.now() < dark_until; };
  for (int i = 0; i < 20; ++i) {
    send(pair.a, 4000);
    ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
  }
  // The outage is almost as long as the timeout. A short packet ends it, before the long one is retransmitted.
  dark_until = pair.now() + pair.a.common.timeout - 10 * kMillisecond;
  send(pair.a, 4000);
  pair.run(pair.a.common.timeout - 9 * kMillisecond);
  send(pair.b, 16);
  EXPECT_TRUE(pair.run(kSecond, [&] { return pair.a.lost || pair.a.connection->settled(); }));
  EXPECT_FALSE(pair.a.lost);
  // A peer that stays silent is not reported as behind a black hole.
  dark_until = kNever;
  send(pair.a, 4000);
  EXPECT_TRUE(pair.run(20 * kSecond, [&] { return pair.a.lost; }));
  EXPECT_EQ(pair.a.life, Connection::Liveness::silent);
}

// Without short data packets, pings show that short packets arrive.
TEST(UdpConnectionTime, APathOnWhichNobodyCutsEndsTheConnectionInTimeWithoutShortWork) {
  for (const bool peer_is_busy : {false, true}) {
    SCOPED_TRACE(peer_is_busy);
    TwoConnections pair({.mtu_hint = 8972});
    pair.both({.mtu = 8972});
    pair.drops = [&](const Station&, core::Bytes datagram) { return datagram.size() > pair.a.out.mtu; };
    for (int i = 0; i < 20; ++i) {
      send(pair.a, 4000);
      ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
    }
    pair.a.out.mtu = 1232;
    send(pair.a, 4000);
    const Time shrank_at = pair.now();
    Time again = 0;
    EXPECT_TRUE(pair.run(20 * kSecond, [&] {
      if (peer_is_busy && pair.now() >= again) {  // its acknowledgements then travel with its data
        again = pair.now() + kMillisecond;
        send(pair.b, 16);
        pair.serve(pair.b);
      }
      return pair.a.lost;
    }));
    EXPECT_EQ(pair.a.life, Connection::Liveness::black_hole);
    EXPECT_GE(pair.now() - shrank_at, pair.a.common.timeout);
    EXPECT_LE(pair.now() - shrank_at, pair.a.common.timeout * 3 / 2);
    EXPECT_EQ(pair.idle_spins, 0u);
  }
}

// With heavy loss no long packet arrives for a long time either, but neither do most short ones.
TEST(UdpConnectionTime, HeavyLossOneWayIsNotTakenForAPathOnWhichNobodyCuts) {
  for (const double loss : {0.8, 0.9}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(seed);
      TwoConnections pair({.seed = seed, .mtu_hint = 8972});
      pair.both({.mtu = 8972});
      for (int i = 0; i < 20; ++i) {
        send(pair.a, 4000);
        ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
      }
      pair.a.out.loss = loss;
      Time again = 0;
      pair.run(30 * kSecond, [&] {
        if (pair.now() >= again) {
          again = pair.now() + 10 * kMillisecond;
          send(pair.a, 4000);
          pair.serve(pair.a);
        }
        return pair.a.lost || pair.b.lost;
      });
      EXPECT_NE(pair.a.life, Connection::Liveness::black_hole);
      EXPECT_NE(pair.b.life, Connection::Liveness::black_hole);
    }
  }
}

TEST(UdpConnectionTime, WhatAnUpperLayerHasNoMemoryForComesAgainUntilItHas) {
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
TEST(UdpConnectionTime, APeerForWhosePacketsThereIsNoMemoryIsLost) {
  TwoConnections pair;
  pair.b.upper.has_memory = false;
  send(pair.a, 100);
  const Time began = pair.now();
  EXPECT_TRUE(runs_out_of_memory(pair, pair.b, [] {}));
  EXPECT_GE(pair.now() - began, pair.b.common.no_memory_limit());
  EXPECT_LT(pair.now() - began, pair.b.common.timeout) << "a silent end would have been given up before";
  EXPECT_NE(pair.b.connection->text(pair.now()).find("lack of memory"), std::string::npos);
}

TEST(UdpConnectionTime, APeerToWhichNothingCanBeSentForLackOfMemoryIsLost) {
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
TEST(UdpConnectionTime, AShortageOfMemoryDoesNotEndAConnectionOnWhichSomethingMoves) {
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
