#include "conduits/udp/tests/connection_traffic.hpp"

#include <gtest/gtest.h>

namespace aqueduct::conduits::udp::connection_tests {
namespace {

TEST(UdpConnectionBlackHole, ABlackHoleInMidStreamIsSurvived) {
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
TEST(UdpConnectionBlackHole, ABlackHoleIsNoticedThoughSmallPacketsGetThrough) {
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
TEST(UdpConnectionBlackHole, AnIpv6PathThatShrinksToItsLeastIsUsedAsItIsThen) {
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
TEST(UdpConnectionBlackHole, APathOnWhichNobodyCutsEndsTheConnectionInTime) {
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

TEST(UdpConnectionBlackHole, AnOutageIsNotTakenForAPathOnWhichNobodyCuts) {
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
TEST(UdpConnectionBlackHole, APathOnWhichNobodyCutsEndsTheConnectionInTimeWithoutShortWork) {
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
TEST(UdpConnectionBlackHole, HeavyLossOneWayIsNotTakenForAPathOnWhichNobodyCuts) {
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

}  // namespace
}  // namespace aqueduct::conduits::udp::connection_tests
