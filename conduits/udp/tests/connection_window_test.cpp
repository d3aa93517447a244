#include "conduits/udp/tests/two_connections.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace aqueduct::conduits::udp::connection_tests {
namespace {

/// Computes what a station has in flight, from the packets on the wire. Requires: no packet is lost.
class InFlight {
 public:
  InFlight(TwoConnections& pair, Station& of) {
    pair.on_sent = [this, &of](const Station& from, core::Bytes datagram) {
      if (&from == &of) sent(datagram);
    };
    pair.on_arrival = [this, &of](const Station& to, core::Bytes datagram) {
      if (&to == &of) arrived(datagram);
    };
  }
  bool acknowledged_once() const { return next_ != 0; }
  std::uint64_t granted() const { return granted_; }
  std::uint64_t bytes() const { return bytes_; }
  std::size_t packets() const { return packets_.size(); }

  std::function<void(std::size_t datagram)> on_data;  ///< called after each data packet is counted

 private:
  void sent(core::Bytes datagram) {
    PacketHeader header;
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.kind != PacketKind::data) return;
    packets_[header.number] = datagram.size();
    bytes_ += datagram.size();
    if (on_data) on_data(datagram.size());
  }
  void arrived(core::Bytes datagram) {
    Buffer copy(datagram.begin(), datagram.end());
    const auto packet = parse_packet(copy, 0);
    ASSERT_TRUE(packet);
    FrameReader reader(*packet);
    while (const auto frame = reader.next()) {
      const auto* ack = std::get_if<Ack>(&*frame);
      if (ack == nullptr) continue;
      granted_ = ack->frame.window;
      next_ = ack->frame.next;
      while (!packets_.empty() && packets_.begin()->first < next_) {
        bytes_ -= packets_.begin()->second;
        packets_.erase(packets_.begin());
      }
    }
  }

  std::map<std::uint64_t, std::size_t> packets_;
  std::uint64_t bytes_ = 0;
  std::uint64_t granted_ = 0;
  std::uint64_t next_ = 0;
};

std::uint64_t congestion_window(const Connection& connection, Time now) {
  const std::string text = connection.text(now);
  const std::string key = "window ";
  return std::stoull(text.substr(text.find(key) + key.size()));
}

TEST(UdpConnectionWindow, IsKept) {
  for (const std::uint32_t window : {4096u, 16'384u, 65'536u, 1'000'000u}) {
    for (const Time delay : {50 * kMicrosecond, 10 * kMillisecond}) {
      SCOPED_TRACE(::testing::Message() << "window " << window << ", delay " << delay);
      TwoConnections pair({.window = window});
      pair.both({.delay = delay});
      pair.b.upper.segments = {Buffer(1'000'000)};
      const Buffer from(1'000'000);
      InFlight flight(pair, pair.a);
      std::uint64_t most = 0;
      flight.on_data = [&](std::size_t datagram) {
        most = std::max(most, flight.bytes());
        if (flight.packets() == 1) return;  // one packet may always be in flight
        EXPECT_LE(flight.bytes(), congestion_window(*pair.a.connection, pair.now()) + datagram);
        if (!flight.acknowledged_once()) return;
        EXPECT_LE(flight.bytes() + flight.packets() * kPacketCharge, flight.granted());
      };
      ASSERT_EQ(pair.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
      EXPECT_TRUE(pair.run(600 * kSecond, [&] { return !pair.a.upper.completions.empty(); }));
      EXPECT_GE(most, std::min(window, 65'536u) / 4);  // the window is used
    }
  }
}

// More and more senders share the peer's buffer: its advertised window shrinks, and less is in flight.
TEST(UdpConnectionWindow, ShrinksWithWhatThePeerGrants) {
  TwoConnections pair({.window = 500'000});
  pair.both({.delay = kMillisecond});
  pair.b.upper.segments = {Buffer(16'000'000)};
  const Buffer from(16'000'000);
  InFlight flight(pair, pair.a);
  std::uint64_t most = 0;
  flight.on_data = [&](std::size_t) { most = std::max(most, flight.bytes()); };
  ASSERT_EQ(pair.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
  pair.run(15 * kMillisecond);
  EXPECT_GT(most, 32'000u);
  pair.b.common.window = 8192;
  pair.run(20 * kMillisecond);
  most = 0;
  pair.run(20 * kMillisecond);
  EXPECT_GT(most, 0u);
  EXPECT_LE(most, 8192u) << "nor is a single packet longer, since others send there too";
  pair.b.common.window = 500'000;
  EXPECT_TRUE(pair.run(10 * kSecond, [&] { return !pair.a.upper.completions.empty(); }));
}

TEST(UdpConnectionWindow, NoRoomSaysRetryAndLaterThereIsSome) {
  TwoConnections pair;
  pair.both({.loss = 1});
  pair.b.upper.segments = {Buffer(1 << 20)};
  const Buffer small(100, std::byte{1}), large(5000, std::byte{2});
  Buffer to(64);
  const Signal signal{1, 1};
  const auto fill = [&](const std::function<core::Post()>& post) {
    int taken = 0;
    while (post().kind != core::Post::Kind::retry && taken < 100'000) ++taken;
    return taken;
  };
  core::Token token = 0;
  Connection& connection = *pair.a.connection;
  const int large_messages = fill([&] { return connection.send({}, large); });
  const int small_messages = fill([&] { return connection.send({}, small); });
  EXPECT_EQ(fill([&] { return connection.put(0, 0, small, nullptr, token); }), 0);
  const int puts = fill([&] { return connection.put(0, 0, large, &signal, token++); });
  EXPECT_EQ(fill([&] { return connection.get(0, 0, to, token); }), 0);
  EXPECT_GE(large_messages, 1);
  EXPECT_LE(large_messages, 1000);
  EXPECT_GE(small_messages, 1);
  EXPECT_LE(small_messages, 10'000);
  EXPECT_GE(puts, 1);
  EXPECT_LE(puts, 10'000);

  pair.both({});
  const auto messages = static_cast<std::size_t>(large_messages + small_messages);
  EXPECT_TRUE(pair.run(2 * kSecond, [&] { return connection.settled(); }));
  EXPECT_EQ(pair.b.upper.messages.size(), messages);
  EXPECT_EQ(pair.a.upper.completions.size(), static_cast<std::size_t>(puts));
  EXPECT_EQ(pair.b.upper.signals.size(), static_cast<std::size_t>(puts));
  EXPECT_EQ(connection.send({}, large).kind, core::Post::Kind::done);
  EXPECT_EQ(connection.send({}, small).kind, core::Post::Kind::done);
  EXPECT_EQ(connection.put(0, 0, small, nullptr, token).kind, core::Post::Kind::posted);
  EXPECT_EQ(connection.get(0, 0, to, token + 1).kind, core::Post::Kind::posted);
  EXPECT_TRUE(pair.run(kSecond, [&] { return connection.settled(); }));
}

TEST(UdpConnectionWindow, MemoryComesBackToThePools) {
  for (const double loss : {0.0, 0.2}) {
    TwoConnections pair;
    pair.both({.loss = loss, .mtu = 1472});
    pair.b.upper.segments = {Buffer(100'000)};
    const Buffer from(100'000);
    Buffer to(50'000);
    const Buffer message(5000);
    for (core::Token token = 0; token < 8; ++token) {
      ASSERT_EQ(pair.a.connection->put(0, 0, from, nullptr, token).kind, core::Post::Kind::posted);
      ASSERT_EQ(pair.a.connection->get(0, 0, to, token + 8).kind, core::Post::Kind::posted);
      ASSERT_EQ(pair.a.connection->send({}, message).kind, core::Post::Kind::done);
    }
    ASSERT_TRUE(pair.run(60 * kSecond, [&] {
      return pair.a.connection->settled() && pair.b.connection->settled() &&
             pair.a.upper.completions.size() == 16 && pair.b.upper.messages.size() == 8;
    }));
    for (const Station* station : {&pair.a, &pair.b}) {
      EXPECT_EQ(station->common.bundles.in_use(), 0u);
      EXPECT_EQ(station->common.long_messages.in_use(), 0u);
      EXPECT_EQ(station->common.bulk_transfers.in_use(), 0u);
      EXPECT_EQ(station->connection->replies(), 0u);
    }
  }
}

// One segment ends while gets from another are in flight, and their packets must be sent again.
TEST(UdpConnectionWindow, TheEndOfASegmentLeavesGetsFromOthersAlone) {
  TwoConnections pair;
  pair.both({.loss = 0.2, .mtu = 1472});
  pair.b.upper.segments = {Buffer(100'000, std::byte{1}), Buffer(100'000, std::byte{2})};
  Buffer to(100'000);
  ASSERT_EQ(pair.a.connection->get(1, 0, to, 1).kind, core::Post::Kind::posted);
  ASSERT_TRUE(pair.run(60 * kSecond, [&] { return pair.b.connection->reads(1); }));
  EXPECT_FALSE(pair.b.connection->reads(0));
  pair.b.connection->drop_replies(0);
  ASSERT_TRUE(pair.run(60 * kSecond, [&] { return pair.a.upper.completions.size() == 1; }));
  EXPECT_TRUE(pair.a.upper.completions[0].status);
  EXPECT_EQ(to, Buffer(100'000, std::byte{2}));
  ASSERT_TRUE(pair.run(60 * kSecond, [&] { return !pair.b.connection->reads(1); }));
}

// The path MTU is probed during a transfer, not only after it: larger packets, so fewer of them.
TEST(UdpConnectionWindow, PacketsGrowDuringABulkTransfer) {
  TwoConnections pair({.mtu_hint = 8972});
  pair.both({.mtu = 8972});
  pair.b.upper.segments = {Buffer(2'000'000)};
  const Buffer from(2'000'000);
  for (core::Token token = 0; token < 4; ++token)
    ASSERT_EQ(pair.a.connection->put(0, 0, from, nullptr, token).kind, core::Post::Kind::posted);
  EXPECT_TRUE(pair.run(60 * kSecond, [&] { return pair.a.upper.completions.size() == 4; }));
  EXPECT_LE(pair.a.packets_sent, 8'000'000u / 8900 + 200);
}

// Messages of equal length share a GSO batch; a shorter one may be the last.
TEST(UdpConnectionWindow, LongMessagesLeaveTogether) {
  for (const Security security : {Security::none, Security::header, Security::full}) {
    TwoConnections pair({.security = security, .mtu_hint = 8972});
    pair.both({.mtu = 8972});
    pair.b.upper.segments = {Buffer(1'000'000)};
    const Buffer from(1'000'000);
    ASSERT_EQ(pair.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
    ASSERT_TRUE(pair.run(60 * kSecond, [&] { return pair.a.connection->settled(); })) << "packets have grown";
    std::vector<Buffer> sent;
    pair.on_sent = [&](const Station& station, core::Bytes datagram) {
      if (&station == &pair.a) sent.emplace_back(datagram.begin(), datagram.end());
    };
    for (const std::size_t bytes : {5000, 5000, 4999, 4000, 4000, 5000}) {
      ASSERT_EQ(pair.a.connection->send({}, Buffer(bytes, static_cast<std::byte>(bytes))).kind,
                core::Post::Kind::done);
    }
    EXPECT_TRUE(pair.a.connection->idle());
    const std::uint64_t batches = pair.batches;
    pair.serve(pair.a);
    EXPECT_FALSE(pair.a.connection->idle());
    EXPECT_EQ(pair.batches - batches, 3u) << "5000, 5000, 4999 (padded as long), 4000; 4000; 5000";
    ASSERT_EQ(sent.size(), 6u);
    ASSERT_TRUE(pair.run(kSecond, [&] { return pair.b.upper.messages.size() == 6; }));
    EXPECT_EQ(pair.b.upper.messages[2], Buffer(4999, static_cast<std::byte>(4999)));
    EXPECT_EQ(pair.b.upper.messages[5], Buffer(5000, static_cast<std::byte>(5000)));
  }
}

TEST(UdpConnectionWindow, ShortMessagesLeaveTogether) {
  for (const Security security : {Security::none, Security::header, Security::full}) {
    TwoConnections pair({.security = security, .mtu_hint = 8972, .window = 500'000});
    pair.both({.mtu = 8972});
    pair.b.upper.segments = {Buffer(1'000'000)};
    const Buffer from(1'000'000);
    ASSERT_EQ(pair.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
    ASSERT_TRUE(pair.run(60 * kSecond, [&] { return pair.a.connection->settled(); }))
        << "the window has grown";
    const std::uint64_t batches = pair.batches;
    const std::uint64_t packets = pair.a.packets_sent;
    constexpr std::size_t kMessages = 30;
    for (std::size_t i = 0; i < kMessages; ++i) {
      const Buffer message(500, static_cast<std::byte>(i));
      ASSERT_EQ(pair.a.connection->send({}, message).kind, core::Post::Kind::done);
    }
    pair.serve(pair.a);
    EXPECT_EQ(pair.a.packets_sent - packets, kMessages / 3) << "three of them in a packet";
    EXPECT_EQ(pair.batches - batches, 1u);
    ASSERT_TRUE(pair.run(kSecond, [&] { return pair.b.upper.messages.size() == kMessages; }));
    for (std::size_t i = 0; i < kMessages; ++i)
      EXPECT_EQ(pair.b.upper.messages[i], Buffer(500, static_cast<std::byte>(i)));
  }
}

// With less waiting, more messages may come before the next poll and share its system call.
TEST(UdpConnectionWindow, AFullLoadIsManyMessagesOrManyBytes) {
  const struct {
    std::size_t bytes;
    std::size_t full;  // number of messages that are a full load
  } each[] = {{0, 32}, {64, 32}, {500, 32}, {700, 24}, {2000, 24}, {5000, 10}, {16'384, 3}};
  for (const auto& [bytes, full] : each) {
    TwoConnections pair;
    const Buffer message(bytes);
    for (std::size_t i = 0; i < full; ++i) {
      EXPECT_FALSE(pair.a.connection->full_load()) << i << " messages of " << bytes << " bytes";
      ASSERT_EQ(pair.a.connection->send({}, message).kind, core::Post::Kind::done);
    }
    EXPECT_TRUE(pair.a.connection->full_load()) << full << " messages of " << bytes << " bytes";
    pair.serve(pair.a);
    EXPECT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
    EXPECT_FALSE(pair.a.connection->full_load());
  }
}

// A sender has a limited number of send places. Acknowledgements free them, and the receiver delays acknowledgements.
// So a sender that runs short of places asks for immediate ones.
TEST(UdpConnectionWindow, AFloodOfMessagesDoesNotWaitForDelayedAcknowledgements) {
  for (const std::size_t mtu : {std::size_t{1472}, std::size_t{65'507}}) {
    for (const std::size_t bytes : {64, 500, 633, 640, 1000, 1200, 1300, 2048, 3072, 4096}) {
      SCOPED_TRACE(::testing::Message() << bytes << " bytes, MTU " << mtu);
      TwoConnections pair({.mtu_hint = mtu, .window = 4'000'000});
      pair.both({.delay = 10 * kMicrosecond, .mtu = mtu});
      pair.b.upper.segments = {Buffer(4'000'000)};
      const Buffer from(4'000'000);
      ASSERT_EQ(pair.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
      ASSERT_TRUE(pair.run(60 * kSecond, [&] { return pair.a.connection->settled(); }))
          << "the window has grown";
      std::size_t arrived = 0;
      pair.b.upper.on_message = [&](core::Bytes) { ++arrived; };
      const Buffer message(bytes);
      constexpr std::size_t kMessages = 2000;
      std::size_t sent = 0;
      const Time began = pair.now();
      ASSERT_TRUE(pair.run(kSecond, [&] {
        while (sent < kMessages && pair.a.connection->send({}, message).kind == core::Post::Kind::done)
          ++sent;
        pair.serve(pair.a);
        return arrived == kMessages;
      }));
      // Limited by the path's rate, or, for short messages, by that many round trips.
      const Time took = pair.now() - began;
      EXPECT_LT(took, 20 * pair.a.common.ack_delay) << took / kMicrosecond << " us";
    }
  }
}

// Short messages leave first, but do not starve bulk data.
TEST(UdpConnectionWindow, AFloodOfShortMessagesDoesNotStarveATransfer) {
  TwoConnections pair;
  pair.b.upper.segments = {Buffer(1'000'000)};
  pair.b.upper.on_message = [](core::Bytes) {};
  const Buffer from(1'000'000), small(100);
  ASSERT_EQ(pair.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
  EXPECT_TRUE(pair.run(100 * kMillisecond, [&] {
    while (pair.a.connection->send({}, small).kind == core::Post::Kind::done) {
    }
    pair.serve(pair.a);
    return !pair.a.upper.completions.empty();
  }));
}

TEST(UdpConnectionWindow, AFloodOfLongMessagesDoesNotStarveATransfer) {
  for (const std::uint32_t window : {65'536u, 130'000u, 400'000u}) {
    for (const std::size_t mtu : {std::size_t{1472}, std::size_t{65'507}}) {
      SCOPED_TRACE(::testing::Message() << "window " << window << ", MTU " << mtu);
      TwoConnections pair({.mtu_hint = mtu, .window = window});
      pair.both({.mtu = mtu});
      pair.b.upper.segments = {Buffer(1'000'000)};
      pair.b.upper.on_message = [](core::Bytes) {};
      const Buffer from(1'000'000), large(16'384);
      ASSERT_EQ(pair.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
      EXPECT_TRUE(pair.run(500 * kMillisecond, [&] {
        while (pair.a.connection->send({}, large).kind == core::Post::Kind::done) {
        }
        pair.serve(pair.a);
        return !pair.a.upper.completions.empty();
      }));
    }
  }
}

// The message is fragmented to fit the peer's window, and arrives.
TEST(UdpConnectionWindow, ALongMessagePassesASmallWindow) {
  TwoConnections pair({.mtu_hint = 65'507, .window = 4096});
  pair.both({.mtu = 65'507});
  std::size_t longest = 0;
  pair.on_sent = [&](const Station& station, core::Bytes datagram) {
    PacketHeader header;
    std::memcpy(&header, datagram.data(), sizeof header);
    if (&station == &pair.a && header.kind == PacketKind::data) longest = std::max(longest, datagram.size());
  };
  const Buffer large(16'384, std::byte{3});
  for (std::size_t n = 1; n <= 10; ++n) {
    ASSERT_EQ(pair.a.connection->send({}, large).kind, core::Post::Kind::done);
    ASSERT_TRUE(pair.run(kSecond, [&] { return pair.b.upper.messages.size() == n; }));
    ASSERT_EQ(pair.b.upper.messages.back(), large);
  }
  EXPECT_LE(longest, 4096u);
  EXPECT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
  EXPECT_EQ(pair.a.common.long_messages.in_use(), 0u);
}

// Whenever it is called, each token completes exactly once with the status, and all buffers return to their pools.
TEST(UdpConnectionWindow, FailEndsEachTokenOnce) {
  for (const Time when :
       {Time{0}, 60 * kMicrosecond, 110 * kMicrosecond, 300 * kMicrosecond, kMillisecond, 5 * kMillisecond}) {
    for (const double loss : {0.0, 0.3}) {
      SCOPED_TRACE(::testing::Message() << "after " << when << ", loss " << loss);
      TwoConnections pair;
      pair.both({.loss = loss, .mtu = 1472});
      pair.b.upper.segments = {Buffer(100'000)};
      std::map<core::Token, int> ends;
      std::size_t failures = 0;
      pair.a.upper.on_completed = [&](core::Token token, Status status) {
        ++ends[token];
        if (!status.ok()) {
          ++failures;
          EXPECT_EQ(status.code(), ErrorCode::peer_lost);
        }
      };
      const Buffer small(200), large(100'000), message(6000);
      Buffer to(30'000);
      const Signal signal{2, 3};
      core::Token token = 0;
      Connection& connection = *pair.a.connection;
      for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(connection.put(0, 0, small, nullptr, token++).kind, core::Post::Kind::posted);
        ASSERT_EQ(connection.put(0, 0, large, &signal, token++).kind, core::Post::Kind::posted);
        ASSERT_EQ(connection.get(0, 0, to, token++).kind, core::Post::Kind::posted);
        ASSERT_EQ(connection.send({}, message).kind, core::Post::Kind::done);
        ASSERT_EQ(pair.b.connection->send({}, message).kind,
                  core::Post::Kind::done);  // may have arrived in part
      }
      pair.run(when);
      connection.fail({ErrorCode::peer_lost, 1});
      EXPECT_EQ(ends.size(), token);
      for (const auto& [which, times] : ends) EXPECT_EQ(times, 1) << "token " << which;
      if (when < kMillisecond) {
        EXPECT_GT(failures, 0u);
      }
      EXPECT_EQ(pair.a.common.bundles.in_use(), 0u);
      EXPECT_EQ(pair.a.common.long_messages.in_use(), 0u);
      EXPECT_EQ(pair.a.common.bulk_transfers.in_use(), 0u);
      EXPECT_EQ(connection.put(0, 0, small, nullptr, 1).why, ErrorCode::peer_lost);
      EXPECT_EQ(connection.send({}, small).kind, core::Post::Kind::failed);
      pair.run(100 * kMillisecond);  // late packets from the peer have no effect
      for (const auto& [which, times] : ends) EXPECT_EQ(times, 1) << "token " << which;
    }
  }
}

}  // namespace
}  // namespace aqueduct::conduits::udp::connection_tests
