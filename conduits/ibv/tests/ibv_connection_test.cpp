// What a connection counts: credits, and requests that have no completion of their own.

#include "conduits/ibv/tests/ranks.hpp"

#include <gtest/gtest.h>

namespace aqueduct::conduits::ibv {
namespace {

using Kind = core::Post::Kind;

Connection after(std::uint64_t messages) {
  Connection connection(1, 8);
  connection.granted = 6;
  connection.sent = connection.returned = messages;
  return connection;
}

// The counter in memory is written only if no packet goes the other way, so after hours of requests and replies it may still hold
// a number of the first second.
TEST(IbvCredits, ACounterThatIsBillionsOfMessagesOldChangesNothing) {
  for (const std::uint64_t messages :
       {6ull, 0x7fff'ffffull, 0x8000'0005ull, 0xffff'fffeull, 0x1'0000'0003ull}) {
    Connection connection = after(messages);
    connection.sent += 6;
    for (const std::uint64_t old : {0ull, 3ull, 5ull}) connection.credits_came(old);
    EXPECT_EQ(connection.returned, messages);
    EXPECT_FALSE(connection.has_credit());
    connection.credits_came(messages + 4);
    EXPECT_EQ(connection.returned, messages + 4);
    EXPECT_TRUE(connection.has_credit());
  }
}

TEST(IbvCredits, APacketsNumberIsTakenForWhatItCanBe) {
  for (const std::uint64_t messages : {100ull, 0x8000'0005ull, 0xffff'fffeull, 0x1'0000'0003ull}) {
    Connection connection = after(messages);
    connection.sent += 6;
    for (const std::uint64_t old :
         {messages - 50, messages - 1, messages, messages - 0x8000'0000u, messages + 7})
      connection.credits_came(static_cast<std::uint32_t>(old));
    EXPECT_EQ(connection.returned, messages);
    connection.credits_came(static_cast<std::uint32_t>(messages + 4));
    EXPECT_EQ(connection.returned, messages + 4);
  }
}

TEST(IbvInline, IsTheLeastThatAnyQueuePairTakes) {
  Ranks ranks({}, 3, [](mock::Network& network) { network.devices[0].most_inline = 20; });
  ranks.meet(1);
  ranks.network().devices[0].most_inline = 220;
  ranks.meet(2);
  const auto bytes = bytes_of(100);
  ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(1), 0, bytes, false, 1).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_EQ(ranks.network().counts.breaches, 0) << "20 bytes are all that the first queue pair takes inline";
}

// The device takes the puts of a burst, and has no room for the message behind them. The message would have ended them too.
TEST(IbvBurst, EndsThoughTheMessageBehindItWasRefused) {
  Ranks ranks;
  ranks.meet();
  const auto bytes = bytes_of(8);
  for (core::Token token = 1; token <= 4; ++token)
    ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 8 * token, bytes, false, token).kind, Kind::posted);
  ranks.network().faults.room = 3;  // the first put has left already
  ASSERT_EQ(ranks[0].send(1, bytes, {}, 0).kind, Kind::retry);
  ranks.network().faults.room = -1;
  for (int i = 0; i < 100; ++i) {
    ranks.poll();
    ranks[0].check_peers(ranks.heard(0));
  }
  EXPECT_EQ(ranks.heard(0).completed_ones.size(), 4u) << "so ends a wait for them";
  EXPECT_TRUE(ranks.heard(0).losses.empty());
}

// As on soft RoCE whose interface is down for a moment: a datagram fails to leave, and the device stops the queue pair.
TEST(IbvListener, StartsAgainAfterAnError) {
  for (int stopped = 1; stopped < 6; ++stopped) {
    Ranks ranks({}, 3);
    const auto bytes = bytes_of(8);
    const auto send = [&](Rank from, Rank to) {
      return ranks.insist([&] { return ranks[from].send(to, bytes, {}, 0); }).kind;
    };
    ranks.network().faults.stop_datagrams = stopped;
    ASSERT_EQ(ranks[1].send(0, bytes, {}, 0).kind, Kind::retry);
    ASSERT_EQ(send(0, 1), Kind::done) << stopped;
    ASSERT_EQ(send(1, 0), Kind::done) << stopped;
    ranks.network().faults.stop_datagrams = 0;
    ASSERT_EQ(send(2, 0), Kind::done) << "rank 0 takes requests again, " << stopped;
    ASSERT_EQ(send(2, 1), Kind::done) << "rank 1 takes requests again, " << stopped;
    EXPECT_EQ(ranks.network().counts.breaches, 0);
  }
}

// The device takes a part of the list of receives. One that were posted twice would take two messages at a time.
TEST(IbvReceives, ArePostedOnceThoughTheDeviceRefusesSome) {
  for (const bool shared : {true, false}) {
    IbvOptions options;
    options.shared_receive_queue = shared;
    Ranks ranks(options);
    ranks.meet();
    std::uint8_t sent = 0;
    const auto send_all = [&] {
      Kind kind = Kind::done;
      while (kind == Kind::done) {
        const std::vector<std::byte> bytes(8, std::byte{sent});
        kind = ranks[0].send(1, bytes, {}, 0).kind;
        if (kind == Kind::done) ++sent;
      }
    };
    send_all();
    ASSERT_GE(sent, 4);
    ranks.network().faults.receives = 2;
    ranks[1].poll(ranks.heard(1));
    ranks.network().faults.receives = -1;
    for (int round = 0; round < 8; ++round) {
      for (int i = 0; i < 20; ++i) ranks.poll();
      send_all();
    }
    for (int i = 0; i < 20; ++i) ranks.poll();
    ASSERT_EQ(ranks.heard(1).packets.size(), sent);
    for (std::size_t i = 0; i < sent; ++i) EXPECT_EQ(ranks.heard(1).packets[i][0], std::byte(i)) << shared;
  }
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
