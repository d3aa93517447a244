#include "conduits/udp/tests/two_connections.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace aqueduct::conduits::udp::connection_tests {
namespace {

/// Computes what a station has in flight, from the packets on the wire. Requires: no packet is lost.
class InFlight {
 public:
  InFlight(TwoConnections& links, Station& of) {
    links.on_sent = [this, &of](const Station& from, core::Bytes datagram) {
      if (&from == &of) sent(datagram);
    };
    links.on_arrival = [this, &of](const Station& to, core::Bytes datagram) {
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
    const auto packet = cut_packet(copy, 0);
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
      TwoConnections links({.window = window});
      links.both({.delay = delay});
      links.b.host.segments = {Buffer(1'000'000)};
      const Buffer from(1'000'000);
      InFlight flight(links, links.a);
      std::uint64_t most = 0;
      flight.on_data = [&](std::size_t datagram) {
        most = std::max(most, flight.bytes());
        if (flight.packets() == 1) return;  // one packet may always be in flight
        EXPECT_LE(flight.bytes(), congestion_window(*links.a.connection, links.now()) + datagram);
        if (!flight.acknowledged_once()) return;
        EXPECT_LE(flight.bytes() + flight.packets() * kPacketCharge, flight.granted());
      };
      ASSERT_EQ(links.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
      EXPECT_TRUE(links.run(600 * kSecond, [&] { return !links.a.host.completions.empty(); }));
      EXPECT_GE(most, std::min(window, 65'536u) / 4);  // the window is used
    }
  }
}

// More and more senders share the peer's buffer: its advertised window shrinks, and less is in flight.
TEST(UdpConnectionWindow, ShrinksWithWhatThePeerGrants) {
  TwoConnections links({.window = 500'000});
  links.both({.delay = kMillisecond});
  links.b.host.segments = {Buffer(16'000'000)};
  const Buffer from(16'000'000);
  InFlight flight(links, links.a);
  std::uint64_t most = 0;
  flight.on_data = [&](std::size_t) { most = std::max(most, flight.bytes()); };
  ASSERT_EQ(links.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
  links.run(15 * kMillisecond);
  EXPECT_GT(most, 32'000u);
  links.b.common.window = 8192;
  links.run(20 * kMillisecond);
  most = 0;
  links.run(20 * kMillisecond);
  EXPECT_GT(most, 0u);
  EXPECT_LE(most, 16'384u);  // one packet may exceed the window
  links.b.common.window = 500'000;
  EXPECT_TRUE(links.run(10 * kSecond, [&] { return !links.a.host.completions.empty(); }));
}

TEST(UdpConnectionWindow, NoRoomSaysRetryAndLaterThereIsSome) {
  TwoConnections links;
  links.both({.loss = 1});
  links.b.host.segments = {Buffer(1 << 20)};
  const Buffer small(100, std::byte{1}), large(5000, std::byte{2});
  Buffer to(64);
  const Signal signal{1, 1};
  const auto fill = [&](const std::function<core::Post()>& post) {
    int taken = 0;
    while (post().kind != core::Post::Kind::retry && taken < 100'000) ++taken;
    return taken;
  };
  core::Token token = 0;
  Connection& connection = *links.a.connection;
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

  links.both({});
  const auto messages = static_cast<std::size_t>(large_messages + small_messages);
  EXPECT_TRUE(links.run(2 * kSecond, [&] { return connection.settled(); }));
  EXPECT_EQ(links.b.host.messages.size(), messages);
  EXPECT_EQ(links.a.host.completions.size(), static_cast<std::size_t>(puts));
  EXPECT_EQ(links.b.host.signals.size(), static_cast<std::size_t>(puts));
  EXPECT_EQ(connection.send({}, large).kind, core::Post::Kind::done);
  EXPECT_EQ(connection.send({}, small).kind, core::Post::Kind::done);
  EXPECT_EQ(connection.put(0, 0, small, nullptr, token).kind, core::Post::Kind::posted);
  EXPECT_EQ(connection.get(0, 0, to, token + 1).kind, core::Post::Kind::posted);
  EXPECT_TRUE(links.run(kSecond, [&] { return connection.settled(); }));
}

TEST(UdpConnectionWindow, MemoryComesBackToThePools) {
  for (const double loss : {0.0, 0.2}) {
    TwoConnections links;
    links.both({.loss = loss, .mtu = 1472});
    links.b.host.segments = {Buffer(100'000)};
    const Buffer from(100'000);
    Buffer to(50'000);
    const Buffer message(5000);
    for (core::Token token = 0; token < 8; ++token) {
      ASSERT_EQ(links.a.connection->put(0, 0, from, nullptr, token).kind, core::Post::Kind::posted);
      ASSERT_EQ(links.a.connection->get(0, 0, to, token + 8).kind, core::Post::Kind::posted);
      ASSERT_EQ(links.a.connection->send({}, message).kind, core::Post::Kind::done);
    }
    ASSERT_TRUE(links.run(60 * kSecond, [&] {
      return links.a.connection->settled() && links.b.connection->settled() &&
             links.a.host.completions.size() == 16 && links.b.host.messages.size() == 8;
    }));
    for (const Station* station : {&links.a, &links.b}) {
      EXPECT_EQ(station->common.bundles.in_use(), 0u);
      EXPECT_EQ(station->common.long_messages.in_use(), 0u);
      EXPECT_EQ(station->common.bulk_transfers.in_use(), 0u);
      EXPECT_EQ(station->connection->replies(), 0u);
    }
  }
}

// The path MTU is probed during a transfer, not only after it: larger packets, so fewer of them.
TEST(UdpConnectionWindow, PacketsGrowDuringABulkTransfer) {
  TwoConnections links({.mtu_hint = 8972});
  links.both({.mtu = 8972});
  links.b.host.segments = {Buffer(2'000'000)};
  const Buffer from(2'000'000);
  for (core::Token token = 0; token < 4; ++token)
    ASSERT_EQ(links.a.connection->put(0, 0, from, nullptr, token).kind, core::Post::Kind::posted);
  EXPECT_TRUE(links.run(60 * kSecond, [&] { return links.a.host.completions.size() == 4; }));
  EXPECT_LE(links.a.packets_sent, 8'000'000u / 8900 + 200);
}

// Messages of equal length share a GSO batch; a shorter one may be the last.
TEST(UdpConnectionWindow, LongMessagesLeaveTogether) {
  for (const Security security : {Security::none, Security::header, Security::full}) {
    TwoConnections links({.security = security, .mtu_hint = 8972});
    links.both({.mtu = 8972});
    links.b.host.segments = {Buffer(1'000'000)};
    const Buffer from(1'000'000);
    ASSERT_EQ(links.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
    ASSERT_TRUE(links.run(60 * kSecond, [&] { return links.a.connection->settled(); }))
        << "packets have grown";
    std::vector<Buffer> sent;
    links.on_sent = [&](const Station& station, core::Bytes datagram) {
      if (&station == &links.a) sent.emplace_back(datagram.begin(), datagram.end());
    };
    for (const std::size_t bytes : {5000, 5000, 4999, 4000, 4000, 5000}) {
      ASSERT_EQ(links.a.connection->send({}, Buffer(bytes, static_cast<std::byte>(bytes))).kind,
                core::Post::Kind::done);
    }
    EXPECT_TRUE(links.a.connection->idle());
    const std::uint64_t batches = links.batches;
    links.serve(links.a);
    EXPECT_FALSE(links.a.connection->idle());
    EXPECT_EQ(links.batches - batches, 3u) << "5000, 5000, 4999 (padded as long), 4000; 4000; 5000";
    ASSERT_EQ(sent.size(), 6u);
    ASSERT_TRUE(links.run(kSecond, [&] { return links.b.host.messages.size() == 6; }));
    EXPECT_EQ(links.b.host.messages[2], Buffer(4999, static_cast<std::byte>(4999)));
    EXPECT_EQ(links.b.host.messages[5], Buffer(5000, static_cast<std::byte>(5000)));
  }
}

TEST(UdpConnectionWindow, ShortMessagesLeaveTogether) {
  for (const Security security : {Security::none, Security::header, Security::full}) {
    TwoConnections links({.security = security, .mtu_hint = 8972, .window = 500'000});
    links.both({.mtu = 8972});
    links.b.host.segments = {Buffer(1'000'000)};
    const Buffer from(1'000'000);
    ASSERT_EQ(links.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
    ASSERT_TRUE(links.run(60 * kSecond, [&] { return links.a.connection->settled(); }))
        << "the window has grown";
    const std::uint64_t batches = links.batches;
    const std::uint64_t packets = links.a.packets_sent;
    constexpr std::size_t kMessages = 30;
    for (std::size_t i = 0; i < kMessages; ++i) {
      const Buffer message(500, static_cast<std::byte>(i));
      ASSERT_EQ(links.a.connection->send({}, message).kind, core::Post::Kind::done);
    }
    links.serve(links.a);
    EXPECT_EQ(links.a.packets_sent - packets, kMessages / 3) << "three of them in a packet";
    EXPECT_EQ(links.batches - batches, 1u);
    ASSERT_TRUE(links.run(kSecond, [&] { return links.b.host.messages.size() == kMessages; }));
    for (std::size_t i = 0; i < kMessages; ++i)
      EXPECT_EQ(links.b.host.messages[i], Buffer(500, static_cast<std::byte>(i)));
  }
}

// With less waiting, more messages may come before the next poll and share its system call.
TEST(UdpConnectionWindow, AFullLoadIsManyMessagesOrManyBytes) {
  const struct {
    std::size_t bytes;
    std::size_t full;  // number of messages that are a full load
  } each[] = {{0, 32}, {64, 32}, {500, 32}, {700, 24}, {2000, 24}, {5000, 10}, {16'384, 3}};
  for (const auto& [bytes, full] : each) {
    TwoConnections links;
    const Buffer message(bytes);
    for (std::size_t i = 0; i < full; ++i) {
      EXPECT_FALSE(links.a.connection->full_load()) << i << " messages of " << bytes << " bytes";
      ASSERT_EQ(links.a.connection->send({}, message).kind, core::Post::Kind::done);
    }
    EXPECT_TRUE(links.a.connection->full_load()) << full << " messages of " << bytes << " bytes";
    links.serve(links.a);
    EXPECT_TRUE(links.run(kSecond, [&] { return links.a.connection->settled(); }));
    EXPECT_FALSE(links.a.connection->full_load());
  }
}

// A sender has a limited number of send places. Acknowledgements free them, and the receiver delays acknowledgements.
// So a sender that runs short of places asks for immediate ones.
TEST(UdpConnectionWindow, AFloodOfMessagesDoesNotWaitForDelayedAcknowledgements) {
  for (const std::size_t mtu : {std::size_t{1472}, std::size_t{65'507}}) {
    for (const std::size_t bytes : {64, 500, 633, 640, 1000, 1200, 1300, 2048, 3072, 4096}) {
      SCOPED_TRACE(::testing::Message() << bytes << " bytes, MTU " << mtu);
      TwoConnections links({.mtu_hint = mtu, .window = 4'000'000});
      links.both({.delay = 10 * kMicrosecond, .mtu = mtu});
      links.b.host.segments = {Buffer(4'000'000)};
      const Buffer from(4'000'000);
      ASSERT_EQ(links.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
      ASSERT_TRUE(links.run(60 * kSecond, [&] { return links.a.connection->settled(); }))
          << "the window has grown";
      std::size_t arrived = 0;
      links.b.host.on_message = [&](core::Bytes) { ++arrived; };
      const Buffer message(bytes);
      constexpr std::size_t kMessages = 2000;
      std::size_t sent = 0;
      const Time began = links.now();
      ASSERT_TRUE(links.run(kSecond, [&] {
        while (sent < kMessages && links.a.connection->send({}, message).kind == core::Post::Kind::done)
          ++sent;
        links.serve(links.a);
        return arrived == kMessages;
      }));
      // Limited by the path's rate, or, for short messages, by that many round trips.
      const Time took = links.now() - began;
      EXPECT_LT(took, 20 * links.a.common.ack_delay) << took / kMicrosecond << " us";
    }
  }
}

// Short messages leave first, but do not starve bulk data.
TEST(UdpConnectionWindow, AFloodOfShortMessagesDoesNotStarveATransfer) {
  TwoConnections links;
  links.b.host.segments = {Buffer(1'000'000)};
  links.b.host.on_message = [](core::Bytes) {};
  const Buffer from(1'000'000), small(100);
  ASSERT_EQ(links.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
  EXPECT_TRUE(links.run(100 * kMillisecond, [&] {
    while (links.a.connection->send({}, small).kind == core::Post::Kind::done) {
    }
    links.serve(links.a);
    return !links.a.host.completions.empty();
  }));
}

TEST(UdpConnectionWindow, AFloodOfLongMessagesDoesNotStarveATransfer) {
  for (const std::uint32_t window : {65'536u, 130'000u, 400'000u}) {
    for (const std::size_t mtu : {std::size_t{1472}, std::size_t{65'507}}) {
      SCOPED_TRACE(::testing::Message() << "window " << window << ", MTU " << mtu);
      TwoConnections links({.mtu_hint = mtu, .window = window});
      links.both({.mtu = mtu});
      links.b.host.segments = {Buffer(1'000'000)};
      links.b.host.on_message = [](core::Bytes) {};
      const Buffer from(1'000'000), large(16'384);
      ASSERT_EQ(links.a.connection->put(0, 0, from, nullptr, 1).kind, core::Post::Kind::posted);
      EXPECT_TRUE(links.run(500 * kMillisecond, [&] {
        while (links.a.connection->send({}, large).kind == core::Post::Kind::done) {
        }
        links.serve(links.a);
        return !links.a.host.completions.empty();
      }));
    }
  }
}

// The message is fragmented to fit the peer's window, and arrives.
TEST(UdpConnectionWindow, ALongMessagePassesASmallWindow) {
  TwoConnections links({.mtu_hint = 65'507, .window = 4096});
  links.both({.mtu = 65'507});
  std::size_t longest = 0;
  links.on_sent = [&](const Station& station, core::Bytes datagram) {
    PacketHeader header;
    std::memcpy(&header, datagram.data(), sizeof header);
    if (&station == &links.a && header.kind == PacketKind::data) longest = std::max(longest, datagram.size());
  };
  const Buffer large(16'384, std::byte{3});
  for (std::size_t n = 1; n <= 10; ++n) {
    ASSERT_EQ(links.a.connection->send({}, large).kind, core::Post::Kind::done);
    ASSERT_TRUE(links.run(kSecond, [&] { return links.b.host.messages.size() == n; }));
    ASSERT_EQ(links.b.host.messages.back(), large);
  }
  EXPECT_LE(longest, 4096u);
  EXPECT_TRUE(links.run(kSecond, [&] { return links.a.connection->settled(); }));
  EXPECT_EQ(links.a.common.long_messages.in_use(), 0u);
}

// Whenever it is called, each token completes exactly once with the status, and all buffers return to their pools.
TEST(UdpConnectionWindow, FailEndsEachTokenOnce) {
  for (const Time when :
       {Time{0}, 60 * kMicrosecond, 110 * kMicrosecond, 300 * kMicrosecond, kMillisecond, 5 * kMillisecond}) {
    for (const double loss : {0.0, 0.3}) {
      SCOPED_TRACE(::testing::Message() << "after " << when << ", loss " << loss);
      TwoConnections links;
      links.both({.loss = loss, .mtu = 1472});
      links.b.host.segments = {Buffer(100'000)};
      std::map<core::Token, int> ends;
      std::size_t failures = 0;
      links.a.host.on_completed = [&](core::Token token, Status status) {
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
      Connection& connection = *links.a.connection;
      for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(connection.put(0, 0, small, nullptr, token++).kind, core::Post::Kind::posted);
        ASSERT_EQ(connection.put(0, 0, large, &signal, token++).kind, core::Post::Kind::posted);
        ASSERT_EQ(connection.get(0, 0, to, token++).kind, core::Post::Kind::posted);
        ASSERT_EQ(connection.send({}, message).kind, core::Post::Kind::done);
        ASSERT_EQ(links.b.connection->send({}, message).kind,
                  core::Post::Kind::done);  // may have arrived in part
      }
      links.run(when);
      connection.fail({ErrorCode::peer_lost, 1});
      EXPECT_EQ(ends.size(), token);
      for (const auto& [which, times] : ends) EXPECT_EQ(times, 1) << "token " << which;
      if (when < kMillisecond) {
        EXPECT_GT(failures, 0u);
      }
      EXPECT_EQ(links.a.common.bundles.in_use(), 0u);
      EXPECT_EQ(links.a.common.long_messages.in_use(), 0u);
      EXPECT_EQ(links.a.common.bulk_transfers.in_use(), 0u);
      EXPECT_EQ(connection.put(0, 0, small, nullptr, 1).why, ErrorCode::peer_lost);
      EXPECT_EQ(connection.send({}, small).kind, core::Post::Kind::failed);
      links.run(100 * kMillisecond);  // late packets from the peer have no effect
      for (const auto& [which, times] : ends) EXPECT_EQ(times, 1) << "token " << which;
    }
  }
}

}  // namespace
}  // namespace aqueduct::conduits::udp::connection_tests
