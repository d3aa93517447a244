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
  TwoConnections links;
  Traffic there(links, links.a, 3, 60);
  Traffic back(links, links.b, 4, 60);
  ASSERT_TRUE(links.run(kSecond, [&] {
    there.post();
    back.post();
    links.serve(links.a);
    links.serve(links.b);
    return there.over() && back.over();
  }));
  links.run(200 * kMillisecond);  // for the last acknowledgements and probes
  std::uint64_t heartbeats = 0, answers = 0, others = 0;
  links.on_sent = [&](const Station&, core::Bytes datagram) {
    const PacketKind kind = header_of(datagram).kind;
    ++(kind == PacketKind::ping ? heartbeats : kind == PacketKind::control ? answers : others);
  };
  links.run(20 * kSecond);
  EXPECT_EQ(others, 0u);
  EXPECT_EQ(answers, heartbeats);
  EXPECT_GE(heartbeats, 19u);  // one of the two sends a ping each second, and both hear from the other
  EXPECT_LE(heartbeats, 40u);
  EXPECT_FALSE(links.a.lost || links.b.lost);
}

TEST(UdpConnectionTime, OneMessageIsTwoPackets) {
  TwoConnections links({.most_datagram = 1200});  // nothing to probe for
  links.serve(links.a);
  ASSERT_EQ(send(links.a, 8).kind, core::Post::Kind::done);
  links.run(100 * kMillisecond);
  EXPECT_EQ(links.a.packets_sent, 1u);
  EXPECT_EQ(links.b.packets_sent, 1u);
}

// The last packet is lost, and no later packet reveals it. It is retransmitted within the probe timeout.
TEST(UdpConnectionTime, ALostTailIsRepairedByTheProbe) {
  TwoConnections links({.most_datagram = 1200});
  for (int i = 0; i < 20; ++i) {  // so that the round trip is known: 100 us
    send(links.a, 700);
    ASSERT_TRUE(links.run(kSecond, [&] { return links.a.connection->settled(); }));
  }
  const std::size_t before = links.b.host.messages.size();
  int drop = 1;
  links.drops = [&](const Station& from, core::Bytes) { return &from == &links.a && drop-- > 0; };
  const Time sent_at = links.now();
  send(links.a, 700);
  ASSERT_TRUE(links.run(kSecond, [&] { return links.b.host.messages.size() == before + 1; }));
  EXPECT_LE(links.now() - sent_at, 1500 * kMicrosecond);
  EXPECT_EQ(links.a.connection->counters().probes, 1u);
  EXPECT_EQ(links.a.connection->counters().timeouts, 0u);
}

// All of the tail but its beginning is lost. The acknowledgement of the tail-loss probe reveals the rest.
TEST(UdpConnectionTime, ALongLostTailIsRepairedWithoutTheLongTimer) {
  TwoConnections links({.most_datagram = 1200});
  for (int i = 0; i < 20; ++i) {
    send(links.a, 700);
    ASSERT_TRUE(links.run(kSecond, [&] { return links.a.connection->settled(); }));
  }
  const std::size_t before = links.b.host.messages.size();
  int seen = 0;
  links.drops = [&](const Station& from, core::Bytes) {
    if (&from != &links.a) return false;
    ++seen;
    return seen >= 3 && seen <= 8;
  };
  const Time sent_at = links.now();
  for (int i = 0; i < 8; ++i) ASSERT_EQ(send(links.a, 700).kind, core::Post::Kind::done);
  ASSERT_TRUE(links.run(kSecond, [&] { return links.b.host.messages.size() == before + 8; }));
  EXPECT_LE(links.now() - sent_at, 3 * kMillisecond);
  EXPECT_EQ(links.a.connection->counters().timeouts, 0u);
}

// The peer's window has shrunk below what is in flight. The tail-loss probe must leave all the same; otherwise only the
// retransmission timeout would help.
TEST(UdpConnectionTime, TheProbeDoesNotWaitForTheWindow) {
  TwoConnections links({.most_datagram = 1200});
  for (int i = 0; i < 20; ++i) {
    send(links.a, 700);
    ASSERT_TRUE(links.run(kSecond, [&] { return links.a.connection->settled(); }));
  }
  const std::size_t before = links.b.host.messages.size();
  int drop = 2;
  links.drops = [&](const Station& from, core::Bytes datagram) {
    return &from == &links.a && header_of(datagram).kind == PacketKind::data && drop-- > 0;
  };
  send(links.a, 700);
  send(links.a, 700);
  const Time sent_at = links.now();
  links.b.common.window = 1000;
  send(links.b, 8);  // its acknowledgement carries the new window
  ASSERT_TRUE(links.run(kSecond, [&] { return links.b.host.messages.size() == before + 2; }));
  EXPECT_LE(links.now() - sent_at, 2 * kMillisecond);
  EXPECT_EQ(links.a.connection->counters().timeouts, 0u);
}

// A packet in the middle is lost. Later packets reveal it after a round trip; no timer is needed.
TEST(UdpConnectionTime, AHoleIsRepairedInTwoRoundTrips) {
  TwoConnections links({.most_datagram = 1200});
  for (int i = 0; i < 20; ++i) {
    send(links.a, 700);
    ASSERT_TRUE(links.run(kSecond, [&] { return links.a.connection->settled(); }));
  }
  const std::size_t before = links.b.host.messages.size();
  int seen = 0;
  links.drops = [&](const Station& from, core::Bytes) { return &from == &links.a && ++seen == 2; };
  const Time sent_at = links.now();
  for (int i = 0; i < 6; ++i) ASSERT_EQ(send(links.a, 700).kind, core::Post::Kind::done);
  ASSERT_TRUE(links.run(kSecond, [&] { return links.b.host.messages.size() == before + 6; }));
  EXPECT_LE(links.now() - sent_at, 300 * kMicrosecond);
  EXPECT_EQ(links.a.connection->counters().retransmitted, 1u);
  EXPECT_EQ(links.a.connection->counters().probes + links.a.connection->counters().timeouts, 0u);
}

TEST(UdpConnectionTime, ASilentPeerIsLostAfterTheTimeoutAndNotBefore) {
  for (const bool busy : {false, true}) {
    SCOPED_TRACE(busy);
    TwoConnections links;
    send(links.a, 100);
    ASSERT_TRUE(links.run(kSecond, [&] { return links.a.connection->settled(); }));
    const Time heard = links.a.connection->heard_at();
    links.both({.loss = 1});
    if (busy) send(links.a, 100);
    links.run(heard + links.a.common.timeout - 1 - links.now());
    EXPECT_FALSE(links.a.lost);
    links.run(2);
    EXPECT_TRUE(links.a.lost);
    EXPECT_EQ(links.idle_spins, 0u);
  }
}

TEST(UdpConnectionTime, APeerThatNeverAnsweredIsLostToo) {
  TwoConnections links;
  links.both({.loss = 1});
  const Buffer from(2000);
  ASSERT_EQ(links.a.connection->put(0, 0, from, nullptr, 9).kind, core::Post::Kind::posted);
  links.run(links.a.common.timeout - 1);
  EXPECT_FALSE(links.a.lost);
  links.run(2);
  EXPECT_TRUE(links.a.lost);
  ASSERT_EQ(links.a.host.completions.size(), 1u);
  EXPECT_EQ(links.a.host.completions[0].token, 9u);
  EXPECT_EQ(links.a.host.completions[0].status.code(), ErrorCode::peer_lost);
}

TEST(UdpConnectionTime, APeerThatPausesIsNotLost) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE(seed);
    TwoConnections links({.seed = seed});
    links.both({.loss = 0.01});
    Traffic there(links, links.a, seed, 300);
    Traffic back(links, links.b, seed + 100, 300);
    bool paused = false;
    EXPECT_TRUE(links.run(20 * kSecond, [&] {
      there.post();
      if (!paused || links.b.paused_until == 0) back.post();
      links.serve(links.a);
      links.serve(links.b);
      if (!paused && links.now() >= TwoConnections::kBegin + 2 * kMillisecond) {
        links.pause(links.b, 3 * kSecond);
        paused = true;
      }
      return there.over() && back.over();
    }));
    EXPECT_TRUE(paused);
    EXPECT_GE(links.now() - TwoConnections::kBegin, 3 * kSecond);
    EXPECT_LE(links.now() - TwoConnections::kBegin, 4 * kSecond);
    there.check();
    back.check();
    EXPECT_FALSE(links.a.lost || links.b.lost);
  }
}

TEST(UdpConnectionTime, AnOutageEndsAndTrafficResumesSoon) {
  TwoConnections links;
  Traffic there(links, links.a, 1, 400);
  Time dark_until = 0;
  links.drops = [&](const Station&, core::Bytes) { return links.now() < dark_until; };
  EXPECT_TRUE(links.run(20 * kSecond, [&] {
    there.post();
    links.serve(links.a);
    if (dark_until == 0 && links.now() >= TwoConnections::kBegin + 2 * kMillisecond)
      dark_until = links.now() + 4 * kSecond;
    return there.over();
  }));
  EXPECT_NE(dark_until, 0);
  EXPECT_GE(links.now(), dark_until);
  EXPECT_LE(links.now(), dark_until + 500 * kMillisecond);
  there.check();
}

TEST(UdpConnectionTime, ABlackHoleInMidStreamIsSurvived) {
  for (const Security security : {Security::none, Security::header, Security::full}) {
    SCOPED_TRACE(static_cast<int>(security));
    TwoConnections links({.security = security, .mtu_hint = 8972});
    links.both({.mtu = 8972});
    Traffic there(links, links.a, 1, 400);
    EXPECT_TRUE(links.run(20 * kSecond, [&] {
      there.post();
      links.serve(links.a);
      if (links.now() >= TwoConnections::kBegin + 2 * kMillisecond) links.a.out.mtu = 1300;
      return there.over();
    }));
    EXPECT_EQ(links.a.out.mtu, 1300u);
    EXPECT_LE(links.now() - TwoConnections::kBegin, kSecond);
    there.check();
    EXPECT_FALSE(links.a.lost || links.b.lost);
  }
}

// Small packets still arrive, so the retransmission timer never expires.
TEST(UdpConnectionTime, ABlackHoleIsNoticedThoughSmallPacketsGetThrough) {
  TwoConnections links({.mtu_hint = 8972});
  links.both({.mtu = 8972});
  const auto settle = [&] { return links.run(kSecond, [&] { return links.a.connection->settled(); }); };
  for (int i = 0; i < 20; ++i) {
    send(links.a, 4000);
    ASSERT_TRUE(settle());
  }
  links.a.out.mtu = 1300;
  const std::size_t before = links.b.host.messages.size();
  const auto large = [&] {
    return std::any_of(links.b.host.messages.begin() + static_cast<std::ptrdiff_t>(before),
                       links.b.host.messages.end(), [](const Buffer& one) { return one.size() == 4000; });
  };
  const Time shrank_at = links.now();
  send(links.a, 4000);
  Time again = 0;
  EXPECT_TRUE(links.run(2 * kSecond, [&] {
    if (links.now() >= again) {
      again = links.now() + 60 * kMicrosecond;
      send(links.a, 16);
      links.serve(links.a);
    }
    return large();
  }));
  EXPECT_LE(links.now() - shrank_at, 10 * kMillisecond);
}

// Like IPv6 over Ethernet whose route changes to a tunnel with the minimum MTU, without any report of that.
TEST(UdpConnectionTime, AnIpv6PathThatShrinksToItsLeastIsUsedAsItIsThen) {
  constexpr std::size_t kHeaders = 40 + 8, kEthernet = 1500 - kHeaders, kLeast = 1280 - kHeaders;
  TwoConnections links({.mtu_hint = kEthernet});
  links.both({.mtu = kEthernet});
  std::size_t longest = 0, cut = 0;
  links.on_sent = [&](const Station& from, core::Bytes datagram) {
    if (&from != &links.a) return;
    longest = std::max(longest, datagram.size());
    cut += links.a.out.mtu == kLeast && datagram.size() > kLeast ? 1 : 0;
  };
  const auto settle = [&] { return links.run(kSecond, [&] { return links.a.connection->settled(); }); };
  const auto round = [&] {
    send(links.a, 8000);
    ASSERT_TRUE(settle());
  };
  for (int i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(round());
  EXPECT_GT(longest, kEthernet - 8);
  links.a.out.mtu = kLeast;
  for (int i = 0; i < 200; ++i) {  // a new search takes a while: three probes for each size that is too long
    ASSERT_NO_FATAL_FAILURE(round());
    links.run(10 * kMillisecond);
  }
  EXPECT_EQ(links.b.host.messages.size(), 220u);
  longest = cut = 0;
  for (int i = 0; i < 20; ++i) ASSERT_NO_FATAL_FAILURE(round());
  EXPECT_GT(longest, kLeast - 8);  // more than the 1200 bytes with which the search begins
  EXPECT_LE(longest, kLeast);
  EXPECT_EQ(cut, 0u);
}

// Over IPv6, or without a router, nothing fragments the packets that were built before the path's MTU shrank.
TEST(UdpConnectionTime, APathOnWhichNobodyCutsEndsTheConnectionInTime) {
  TwoConnections links({.mtu_hint = 8972});
  links.both({.mtu = 8972});
  links.drops = [&](const Station&, core::Bytes datagram) { return datagram.size() > links.a.out.mtu; };
  const auto settle = [&] { return links.run(kSecond, [&] { return links.a.connection->settled(); }); };
  for (int i = 0; i < 20; ++i) {
    send(links.a, 4000);
    ASSERT_TRUE(settle());
  }
  links.a.out.mtu = 1232;
  send(links.a, 4000);
  const Time shrank_at = links.now();
  Time again = 0;
  EXPECT_TRUE(links.run(20 * kSecond, [&] {
    if (links.now() >= again) {  // short packets arrive all the time
      again = links.now() + kMillisecond;
      send(links.a, 16);
      links.serve(links.a);
    }
    return links.a.lost;
  }));
  EXPECT_EQ(links.a.life, Connection::Life::stuck);
  EXPECT_TRUE(links.a.connection->settled());
  EXPECT_GE(links.now() - shrank_at, links.a.common.timeout);
  EXPECT_LE(links.now() - shrank_at, links.a.common.timeout * 3 / 2);
  EXPECT_FALSE(links.b.lost);
}

TEST(UdpConnectionTime, AnOutageIsNotTakenForAPathOnWhichNobodyCuts) {
  TwoConnections links({.mtu_hint = 8972});
  links.both({.mtu = 8972});
  Time dark_until = 0;
  links.drops = [&](const Station&, core::Bytes) { return links.now() < dark_until; };
  for (int i = 0; i < 20; ++i) {
    send(links.a, 4000);
    ASSERT_TRUE(links.run(kSecond, [&] { return links.a.connection->settled(); }));
  }
  // The outage is almost as long as the timeout. A short packet ends it, before the long one is retransmitted.
  dark_until = links.now() + links.a.common.timeout - 10 * kMillisecond;
  send(links.a, 4000);
  links.run(links.a.common.timeout - 9 * kMillisecond);
  send(links.b, 16);
  EXPECT_TRUE(links.run(kSecond, [&] { return links.a.lost || links.a.connection->settled(); }));
  EXPECT_FALSE(links.a.lost);
  // A peer that stays silent is not reported as stuck.
  dark_until = kNever;
  send(links.a, 4000);
  EXPECT_TRUE(links.run(20 * kSecond, [&] { return links.a.lost; }));
  EXPECT_EQ(links.a.life, Connection::Life::silent);
}

// Without short data packets, pings show that short packets arrive.
TEST(UdpConnectionTime, APathOnWhichNobodyCutsEndsTheConnectionInTimeWithoutShortWork) {
  for (const bool peer_is_busy : {false, true}) {
    SCOPED_TRACE(peer_is_busy);
    TwoConnections links({.mtu_hint = 8972});
    links.both({.mtu = 8972});
    links.drops = [&](const Station&, core::Bytes datagram) { return datagram.size() > links.a.out.mtu; };
    for (int i = 0; i < 20; ++i) {
      send(links.a, 4000);
      ASSERT_TRUE(links.run(kSecond, [&] { return links.a.connection->settled(); }));
    }
    links.a.out.mtu = 1232;
    send(links.a, 4000);
    const Time shrank_at = links.now();
    Time again = 0;
    EXPECT_TRUE(links.run(20 * kSecond, [&] {
      if (peer_is_busy && links.now() >= again) {  // its acknowledgements then travel with its data
        again = links.now() + kMillisecond;
        send(links.b, 16);
        links.serve(links.b);
      }
      return links.a.lost;
    }));
    EXPECT_EQ(links.a.life, Connection::Life::stuck);
    EXPECT_GE(links.now() - shrank_at, links.a.common.timeout);
    EXPECT_LE(links.now() - shrank_at, links.a.common.timeout * 3 / 2);
    EXPECT_EQ(links.idle_spins, 0u);
  }
}

// With heavy loss no long packet arrives for a long time either, but neither do most short ones.
TEST(UdpConnectionTime, HeavyLossOneWayIsNotTakenForAPathOnWhichNobodyCuts) {
  for (const double loss : {0.8, 0.9}) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      SCOPED_TRACE(seed);
      TwoConnections links({.seed = seed, .mtu_hint = 8972});
      links.both({.mtu = 8972});
      for (int i = 0; i < 20; ++i) {
        send(links.a, 4000);
        ASSERT_TRUE(links.run(kSecond, [&] { return links.a.connection->settled(); }));
      }
      links.a.out.loss = loss;
      Time again = 0;
      links.run(30 * kSecond, [&] {
        if (links.now() >= again) {
          again = links.now() + 10 * kMillisecond;
          send(links.a, 4000);
          links.serve(links.a);
        }
        return links.a.lost || links.b.lost;
      });
      EXPECT_NE(links.a.life, Connection::Life::stuck);
      EXPECT_NE(links.b.life, Connection::Life::stuck);
    }
  }
}

TEST(UdpConnectionTime, WhatAHostHasNoMemoryForComesAgainUntilItHas) {
  TwoConnections links;
  const Buffer eight(8);
  const Signal signal{.slot = 5, .add = 1};
  links.b.host.segments = {Buffer(8)};
  links.b.host.has_memory = false;
  send(links.a, 100);
  links.a.connection->put(0, 0, eight, &signal, 1);
  links.run(100 * kMillisecond);
  EXPECT_EQ(links.b.host.asked_messages, 1u);
  EXPECT_GE(links.b.host.asked_bytes, 100u);
  EXPECT_EQ(links.b.host.asked_signals, 1u);
  EXPECT_TRUE(links.b.host.messages.empty());
  EXPECT_TRUE(links.a.host.completions.empty());
  links.b.host.has_memory = true;
  ASSERT_TRUE(links.run(kSecond, [&] { return links.a.connection->settled(); }));
  EXPECT_EQ(links.b.host.messages.size(), 1u);
  EXPECT_EQ(links.b.host.signals.size(), 1u);
  EXPECT_EQ(links.a.host.completions.size(), 1u);
}

TEST(UdpConnectionTime, AFarewellIsHeard) {
  TwoConnections links;
  send(links.a, 100);
  ASSERT_TRUE(links.run(kSecond, [&] { return links.a.connection->settled(); }));
  links.say_farewell(links.a);
  links.run(kMillisecond);
  EXPECT_TRUE(links.b.closed);
  EXPECT_FALSE(links.a.closed);
}

}  // namespace
}  // namespace aqueduct::conduits::udp::connection_tests
