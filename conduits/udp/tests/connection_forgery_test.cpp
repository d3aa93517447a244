#include "conduits/udp/tests/two_connections.hpp"

#include <gtest/gtest.h>

namespace aqueduct::conduits::udp::connection_tests {
namespace {

constexpr Security kAll[] = {Security::none, Security::header, Security::full};

/// Packets that a sent to b, none of which has arrived: a bundle with all short operations, a long message, bulk
/// data, a get.
std::vector<Buffer> record(TwoConnections& pair) {
  std::vector<Buffer> seen;
  pair.b.upper.segments = {Buffer(4096), Buffer(4096, std::byte{7})};
  pair.on_sent = [&](const Station&, core::Bytes datagram) {
    seen.emplace_back(datagram.begin(), datagram.end());
  };
  pair.a.out.loss = 1;
  const Buffer small(400, std::byte{1}), message(900, std::byte{2}), bulk(1024, std::byte{3});
  static Buffer to(64);
  const Signal signal{5, 6};
  Connection& connection = *pair.a.connection;
  EXPECT_EQ(connection.send({}, small).kind, core::Post::Kind::done);
  EXPECT_EQ(connection.put(0, 0, small, &signal, 1).kind, core::Post::Kind::posted);
  EXPECT_EQ(connection.get(1, 0, to, 2).kind, core::Post::Kind::posted);
  EXPECT_EQ(connection.send({}, message).kind, core::Post::Kind::done);
  EXPECT_EQ(connection.put(0, 512, bulk, nullptr, 3).kind, core::Post::Kind::posted);
  pair.serve(pair.a);
  pair.on_sent = nullptr;
  return seen;
}

bool untouched(const Station& station) {
  const Buffer zeros(4096);
  return station.upper.messages.empty() && station.upper.signals.empty() &&
         station.upper.segments[0] == zeros && station.connection->counters().received == 0 &&
         !station.connection->waiting();
}

/// Bytes of a datagram that the mode protects.
std::size_t covered(Security security, const Buffer& datagram) {
  if (security == Security::full) return datagram.size();
  PacketHeader header;
  std::memcpy(&header, datagram.data(), sizeof header);
  return sizeof header + header.frames;
}

TEST(UdpConnectionForgery, AChangedBitHasNoEffectButTheCounter) {
  for (const Security security : {Security::header, Security::full}) {
    SCOPED_TRACE(static_cast<int>(security));
    TwoConnections pair({.security = security});
    const std::vector<Buffer> recorded = record(pair);
    ASSERT_GE(recorded.size(), 3u);
    std::uint64_t cut = 0, tried = 0;
    for (const Buffer& genuine : recorded) {
      for (std::size_t at = 0; at < covered(security, genuine); ++at) {
        Buffer forged = genuine;
        forged[at] ^= static_cast<std::byte>(1u << at % 8);
        ++tried;
        const std::uint64_t before = pair.b.connection->counters().rejected;
        ASSERT_EQ(pair.hand_over(pair.b, forged), Connection::Verdict::rejected) << "offset " << at;
        if (pair.b.connection->counters().rejected == before) ++cut;  // parse_packet rejected its lengths
        ASSERT_TRUE(untouched(pair.b)) << "offset " << at;
      }
    }
    EXPECT_GT(tried, 1000u);
    EXPECT_LE(cut, recorded.size() * 8);
    for (const Buffer& genuine : recorded)
      EXPECT_EQ(pair.hand_over(pair.b, genuine), Connection::Verdict::taken);
    EXPECT_EQ(pair.b.upper.messages.size(), 2u);
    EXPECT_EQ(pair.b.upper.signals.size(), 1u);
  }
}

TEST(UdpConnectionForgery, ATruncatedOrLengthenedPacketHasNoEffect) {
  for (const Security security : kAll) {
    SCOPED_TRACE(static_cast<int>(security));
    TwoConnections pair({.security = security});
    for (const Buffer& genuine : record(pair)) {
      for (std::size_t bytes = 0; bytes < genuine.size(); ++bytes) {
        ASSERT_EQ(pair.hand_over(pair.b, core::Bytes(genuine).first(bytes)), Connection::Verdict::rejected);
      }
      Buffer longer = genuine;
      longer.push_back(std::byte{0});
      EXPECT_EQ(pair.hand_over(pair.b, longer), Connection::Verdict::rejected);
      EXPECT_TRUE(untouched(pair.b));
    }
  }
}

TEST(UdpConnectionForgery, AReplayedPacketHasNoEffect) {
  for (const Security security : kAll) {
    SCOPED_TRACE(static_cast<int>(security));
    TwoConnections pair({.security = security});
    const std::vector<Buffer> recorded = record(pair);
    for (int round = 0; round < 3; ++round) {
      for (const Buffer& genuine : recorded) pair.hand_over(pair.b, genuine);
      if (round == 0) pair.b.upper.segments[0].assign(4096, std::byte{0});
    }
    EXPECT_EQ(pair.b.upper.messages.size(), 2u);
    EXPECT_EQ(pair.b.upper.signals.size(), 1u);
    EXPECT_EQ(pair.b.upper.segments[0], Buffer(4096));
    EXPECT_EQ(pair.b.connection->counters().duplicate, 2 * recorded.size());
  }
}

TEST(UdpConnectionForgery, AReplayedFarewellPingOrAcknowledgementHasNoEffect) {
  TwoConnections pair;
  std::vector<Buffer> recorded;
  pair.on_sent = [&](const Station& from, core::Bytes datagram) {
    if (&from == &pair.a) recorded.emplace_back(datagram.begin(), datagram.end());
  };
  pair.run(2500 * kMillisecond);  // pings
  pair.on_sent = nullptr;
  ASSERT_GE(recorded.size(), 2u);
  pair.run(100 * kMillisecond);
  const std::uint64_t before = pair.b.packets_sent;
  for (const Buffer& one : recorded) {
    EXPECT_EQ(pair.hand_over(pair.b, one), Connection::Verdict::taken);
    pair.serve(pair.b);
  }
  EXPECT_EQ(pair.b.packets_sent, before);
  EXPECT_EQ(pair.b.connection->counters().duplicate, recorded.size());
}

TEST(UdpConnectionForgery, ReplayedPacketsDoNotKeepADeadPeerAlive) {
  TwoConnections pair;
  std::vector<Buffer> recorded;
  pair.on_sent = [&](const Station& from, core::Bytes datagram) {
    if (&from == &pair.a) recorded.emplace_back(datagram.begin(), datagram.end());
  };
  ASSERT_EQ(pair.a.connection->send({}, Buffer(100)).kind, core::Post::Kind::done);
  pair.run(2500 * kMillisecond);  // a message, acknowledgements and pings
  pair.on_sent = nullptr;
  ASSERT_GE(recorded.size(), 3u);
  const Time heard = pair.b.connection->heard_at();
  pair.both({.loss = 1});
  while (pair.now() < heard + pair.b.common.timeout) {
    EXPECT_FALSE(pair.b.lost);
    for (const Buffer& one : recorded) pair.hand_over(pair.b, one);
    pair.run(50 * kMillisecond);
  }
  EXPECT_TRUE(pair.b.lost);
}

TEST(UdpConnectionForgery, PacketsOfOthersAreRejected) {
  for (const Security security : kAll) {
    SCOPED_TRACE(static_cast<int>(security));
    TwoConnections mine({.security = security});
    mine.b.upper.segments = {Buffer(4096)};
    const auto reject = [&](Common& common, Rank to, const Secret& secret) {
      Connection stranger(common, to, secret, mine.now());
      const Buffer payload(100);
      ASSERT_EQ(stranger.send({}, payload).kind, core::Post::Kind::done);
      GsoBatch batch;
      bool may_fragment = false;
      ASSERT_TRUE(stranger.fill(mine.now(), batch, may_fragment));
      const Address nowhere;
      const Outgoing out = batch.outgoing(nowhere, false);
      const auto* bytes = static_cast<const std::byte*>(out.pieces[0].iov_base);
      EXPECT_EQ(mine.hand_over(mine.b, {bytes, out.pieces[0].iov_len}), Connection::Verdict::rejected);
      EXPECT_TRUE(untouched(mine.b));
    };
    RecordingLayer upper;
    const auto common = [&](Rank me, std::uint64_t job, int secret) {
      auto made = std::make_unique<Common>(upper, me, job);
      made->security = security;
      made->secret.fill(static_cast<std::byte>(secret));
      return made;
    };
    const Secret& of_b = mine.b.common.secret;
    Secret wrong = of_b;
    wrong[31] ^= std::byte{1};
    reject(*common(0, 78, 1), 1, of_b);   // another job
    reject(*common(0, 77, 9), 1, of_b);   // another secret
    reject(*common(0, 77, 1), 1, wrong);  // another secret of the receiver
    reject(*common(0, 77, 1), 2, of_b);   // to another rank
    reject(*common(3, 77, 1), 1, of_b);   // from another rank
    EXPECT_EQ(mine.b.connection->counters().rejected, 5u);
  }
}

// ------------------------------------------------------- packets of a peer that has the keys and makes mistakes

/// Makes a packet from a to b with the test's own frames.
class Forge {
 public:
  explicit Forge(TwoConnections& pair)
      : connections_(pair),
        seal_(Security::header, pair.a.common.secret, pair.b.common.secret, 0, 1, pair.a.common.job) {}

  template <class... Parts>
  Connection::Verdict hand_over(PacketKind kind, std::uint64_t number, core::Bytes data,
                                const Parts&... parts) {
    Buffer bytes(sizeof(PacketHeader));
    (append(bytes, &parts, sizeof parts), ...);
    PacketHeader header;
    header.kind = kind;
    header.from = 0;
    header.to = 1;
    header.number = number;
    header.frames = static_cast<std::uint16_t>(bytes.size() - sizeof header);
    header.data = static_cast<std::uint16_t>(data.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    header.tag = seal_.tag(bytes);
    std::memcpy(bytes.data(), &header, sizeof header);
    append(bytes, data.data(), data.size());
    return connections_.hand_over(connections_.b, bytes);
  }

 private:
  static void append(Buffer& to, const void* from, std::size_t bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    to.insert(to.end(), at, at + bytes);
  }
  TwoConnections& connections_;
  Seal seal_;
};

TEST(UdpConnectionForgery, APutOutsideTheSegmentIsRejectedAndCounted) {
  TwoConnections pair;
  pair.b.upper.segments = {Buffer(100)};
  const Buffer eight(8, std::byte{1}), much(1000, std::byte{2});
  Connection& connection = *pair.a.connection;
  connection.put(0, 93, eight, nullptr, 1);              // the last byte is outside
  connection.put(0, 101, eight, nullptr, 2);             // begins outside
  connection.put(0, UINT64_MAX - 3, eight, nullptr, 3);  // the sum overflows
  connection.put(1, 0, eight, nullptr, 4);               // no such segment
  ASSERT_TRUE(pair.run(kSecond, [&] { return connection.settled(); }));
  EXPECT_EQ(pair.b.connection->counters().rejected, 1u);  // all are in one packet
  ASSERT_EQ(pair.b.upper.refusals.size(), 1u);            // reported once, for the first
  EXPECT_EQ(pair.b.upper.refusals[0].call, "put");
  EXPECT_EQ(pair.b.upper.refusals[0].segment, 0u);
  EXPECT_EQ(pair.b.upper.refusals[0].offset, 93u);
  EXPECT_EQ(pair.b.upper.refusals[0].bytes, 8u);
  connection.put(0, 0, much, nullptr, 5);
  ASSERT_TRUE(pair.run(kSecond, [&] { return connection.settled(); }));
  EXPECT_EQ(pair.b.connection->counters().rejected, 2u);
  EXPECT_EQ(pair.b.upper.segments[0], Buffer(100));
  connection.put(0, 92, eight, nullptr, 6);  // fits
  ASSERT_TRUE(pair.run(kSecond, [&] { return connection.settled(); }));
  EXPECT_EQ(pair.b.connection->counters().rejected, 2u);
  EXPECT_EQ(pair.b.upper.segments[0][99], std::byte{1});
  EXPECT_EQ(pair.b.upper.refusals.size(), 1u);
}

TEST(UdpConnectionForgery, AGetOutsideTheSegmentIsRejectedAndCounted) {
  TwoConnections pair;
  pair.b.upper.segments = {Buffer(100)};
  Forge forge(pair);
  forge.hand_over(PacketKind::data, 0, {}, GetFrame{.bytes = 101});
  forge.hand_over(PacketKind::data, 1, {}, GetFrame{.bytes = 1, .offset = 100});
  forge.hand_over(PacketKind::data, 2, {}, GetFrame{.bytes = 8, .offset = UINT64_MAX - 3});
  forge.hand_over(PacketKind::data, 3, {}, GetFrame{.bytes = 1, .segment = 1});
  EXPECT_EQ(pair.b.connection->counters().rejected, 4u);
}

TEST(UdpConnectionForgery, AGetOutsideTheSegmentEndsWithAnError) {
  TwoConnections pair;
  pair.b.upper.segments = {Buffer(100)};
  Buffer small(8), large(5000), right(100);
  Connection& connection = *pair.a.connection;
  ASSERT_EQ(connection.get(0, 93, small, 1).kind, core::Post::Kind::posted);
  ASSERT_EQ(connection.get(0, 0, large, 2).kind, core::Post::Kind::posted);
  ASSERT_EQ(connection.get(0, 0, right, 3).kind, core::Post::Kind::posted);
  ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.upper.completions.size() == 3; }));
  for (const auto& [token, status] : pair.a.upper.completions) {
    EXPECT_EQ(status.code(), token == 3 ? ErrorCode::ok : ErrorCode::out_of_range) << "token " << token;
  }
  EXPECT_EQ(small, Buffer(8));
  ASSERT_TRUE(pair.run(kSecond, [&] { return pair.b.connection->settled(); }));
  EXPECT_EQ(pair.b.connection->replies(), 0u);
}

TEST(UdpConnectionForgery, APutOutsideTheSegmentRaisesNoSignal) {
  TwoConnections pair;
  pair.b.upper.segments = {Buffer(4000)};
  const Buffer eight(8), much(3000);
  const Signal signal{.slot = 5, .add = 1};
  pair.a.connection->put(0, 3999, eight, &signal, 1);
  pair.a.connection->put(0, 2000, much, &signal, 2);  // in pieces; the first may fit
  pair.a.connection->put(0, 1000, much, &signal, 3);
  ASSERT_TRUE(pair.run(kSecond, [&] { return pair.a.connection->settled(); }));
  EXPECT_EQ(pair.b.upper.signals.size(), 1u);
}

TEST(UdpConnectionForgery, ASignalToAWordChangesItAfterTheBytesAndOnlyInsideItsSegment) {
  TwoConnections pair;
  pair.b.upper.segments = {Buffer(4000), Buffer(64)};
  const Buffer eight(8, std::byte{7}), much(3000, std::byte{7});
  const auto put = [&](const Buffer& bytes, std::uint64_t offset, std::uint64_t value, SignalOp op,
                       core::Token token) {
    const Announcement signal{Announcement::Kind::word, op, 1, offset, value};
    return pair.a.connection->put_announced(0, 0, bytes, signal, token).kind;
  };
  const auto word = [&] {
    std::uint64_t value = 0;
    std::memcpy(&value, pair.b.upper.segments[1].data() + 8, sizeof value);
    return value;
  };
  const auto settle = [&] { return pair.run(kSecond, [&] { return pair.a.connection->settled(); }); };
  EXPECT_EQ(put(eight, 8, 5, SignalOp::add, 1), core::Post::Kind::posted);
  ASSERT_TRUE(settle());
  EXPECT_EQ(word(), 5u);
  EXPECT_EQ(put(much, 8, 6, SignalOp::add, 2), core::Post::Kind::posted);  // in pieces
  ASSERT_TRUE(settle());
  EXPECT_EQ(word(), 11u);
  EXPECT_EQ(put(much, 8, 3, SignalOp::set, 3), core::Post::Kind::posted);
  ASSERT_TRUE(settle());
  EXPECT_EQ(word(), 3u);
  EXPECT_EQ(put(eight, 64, 1, SignalOp::set, 4), core::Post::Kind::posted);  // behind the segment
  EXPECT_EQ(put(eight, 12, 1, SignalOp::set, 5), core::Post::Kind::posted);  // not aligned
  EXPECT_EQ(put(much, 60, 1, SignalOp::set, 6), core::Post::Kind::posted);   // half of it behind the segment
  ASSERT_TRUE(settle());
  EXPECT_EQ(word(), 3u);
  EXPECT_TRUE(pair.b.upper.signals.empty());
}

TEST(UdpConnectionForgery, DataThatNobodyAskedForIsRejectedAndCounted) {
  TwoConnections pair;
  Forge forge(pair);
  const std::uint64_t eight = 8;
  forge.hand_over(PacketKind::data, 0, {}, DataFrame{.bytes = 8, .transfer = 0}, eight);
  pair.a.upper.segments = {Buffer(100)};
  Buffer to(16);
  ASSERT_EQ(pair.b.connection->get(0, 0, to, 1).kind, core::Post::Kind::posted);
  forge.hand_over(PacketKind::data, 1, {}, DataFrame{.bytes = 8, .transfer = 1}, eight);
  forge.hand_over(PacketKind::data, 2, {}, DataFrame{.bytes = 8, .offset = 9}, eight);
  forge.hand_over(PacketKind::data, 3, {}, DataFrame{.bytes = 8, .transfer = UINT32_MAX}, eight);
  forge.hand_over(PacketKind::data, 4, {}, DataFrame{.bytes = 8, .offset = UINT32_MAX}, eight);
  EXPECT_EQ(pair.b.connection->counters().rejected, 5u);
  EXPECT_EQ(to, Buffer(16));
  EXPECT_TRUE(pair.b.upper.completions.empty());
}

TEST(UdpConnectionForgery, NumbersBeyondTheWindowAreAsIfLost) {
  TwoConnections pair;
  Forge forge(pair);
  const MessageFrame nothing;
  for (const std::uint64_t number :
       {ReceivedPackets::kSpan, ReceivedPackets::kSpan + 1, UINT64_MAX - 1, UINT64_MAX}) {
    EXPECT_EQ(forge.hand_over(PacketKind::data, number, {}, nothing), Connection::Verdict::taken);
  }
  EXPECT_TRUE(pair.b.upper.messages.empty());
  EXPECT_EQ(forge.hand_over(PacketKind::data, ReceivedPackets::kSpan - 1, {}, nothing),
            Connection::Verdict::taken);
  EXPECT_EQ(forge.hand_over(PacketKind::data, 0, {}, nothing), Connection::Verdict::taken);
  EXPECT_EQ(pair.b.upper.messages.size(), 2u);
  EXPECT_EQ(forge.hand_over(PacketKind::data, ReceivedPackets::kSpan, {}, nothing),
            Connection::Verdict::taken);
  EXPECT_EQ(pair.b.upper.messages.size(), 3u);
}

TEST(UdpConnectionForgery, AnAcknowledgementOfWhatWasNeverSentHasNoEffect) {
  TwoConnections pair;
  pair.b.out.loss = 1;
  pair.a.upper.segments = {Buffer(100)};
  const Buffer eight(8);
  ASSERT_EQ(pair.b.connection->put(0, 0, eight, nullptr, 1).kind, core::Post::Kind::posted);
  pair.serve(pair.b);
  Forge forge(pair);
  forge.hand_over(PacketKind::control, 0, {}, AckFrame{.next = 2, .window = 65'536});
  forge.hand_over(PacketKind::control, 1, {}, AckFrame{.next = UINT64_MAX, .window = 65'536});
  forge.hand_over(PacketKind::control, 2, {}, AckFrame{.ranges = 1, .window = 65'536},
                  AckRange{1, UINT32_MAX});
  forge.hand_over(PacketKind::control, 3, {}, AckFrame{.ranges = 1, .window = 65'536},
                  AckRange{UINT32_MAX, UINT32_MAX});
  EXPECT_TRUE(pair.b.upper.completions.empty());
  forge.hand_over(PacketKind::control, 4, {}, AckFrame{.next = 1, .window = 65'536});
  EXPECT_EQ(pair.b.upper.completions.size(), 1u);
}

// Only data packets are delivered exactly once, and only they are checked for room.
TEST(UdpConnectionForgery, WorkInPacketsWithoutANumberIsRejected) {
  TwoConnections pair;
  pair.b.upper.segments = {Buffer(100)};
  Forge forge(pair);
  const Buffer bulk(64);
  std::uint64_t number = 0;
  for (const PacketKind kind : {PacketKind::control, PacketKind::ping, PacketKind::probe_answer}) {
    const auto rejects = [&](core::Bytes data, const auto&... parts) {
      return forge.hand_over(kind, number++, data, parts...) == Connection::Verdict::rejected;
    };
    EXPECT_TRUE(rejects({}, MessageFrame{}));
    EXPECT_TRUE(rejects({}, PutFrame{}));
    EXPECT_TRUE(rejects({}, GetFrame{.bytes = 8}));
    EXPECT_TRUE(rejects(bulk, FragmentFrame{.bytes = 64, .total = 1 << 20, .offset = 1 << 19}));
    EXPECT_TRUE(rejects(bulk, DataFrame{.flags = kBulk, .bytes = 64}));
  }
  EXPECT_TRUE(pair.b.upper.messages.empty());
  EXPECT_EQ(pair.b.common.long_messages.in_use(), 0u);
}

TEST(UdpConnectionForgery, FragmentsThatDoNotFitTogetherHaveNoEffect) {
  TwoConnections pair;
  Forge forge(pair);
  const Buffer bulk(64);
  const auto fragment = [&](std::uint64_t number, const FragmentFrame& frame) {
    return forge.hand_over(PacketKind::data, number, bulk, frame);
  };
  EXPECT_EQ(fragment(0, {.bytes = 64, .total = kMostMessage + 1}), Connection::Verdict::rejected);
  EXPECT_EQ(pair.b.common.long_messages.in_use(), 0u);
  EXPECT_EQ(fragment(1, {.bytes = 64, .total = 128, .offset = 65}), Connection::Verdict::rejected);
  EXPECT_EQ(fragment(1, {.bytes = 64, .total = 63, .offset = 0}), Connection::Verdict::rejected);
  EXPECT_EQ(fragment(1, {.bytes = 64, .total = 128, .offset = UINT32_MAX}), Connection::Verdict::rejected);
  fragment(1, {.bytes = 64, .total = 128, .offset = 0});
  fragment(2, {.bytes = 64, .total = 100, .offset = 36});  // of the same message, with another length
  EXPECT_TRUE(pair.b.upper.messages.empty());
  fragment(3, {.bytes = 64, .total = 128, .offset = 64});
  EXPECT_EQ(pair.b.upper.messages.size(), 1u);
  EXPECT_EQ(pair.b.common.long_messages.in_use(), 0u);
}

// More than a correct peer may have in flight: what does not fit counts as lost, so memory stays bounded.
TEST(UdpConnectionForgery, HalfMessagesAndHalfSignalsAreBounded) {
  TwoConnections pair;
  pair.b.upper.segments = {Buffer(1000)};
  Forge forge(pair);
  const Buffer bulk(64);
  for (std::uint32_t i = 0; i < 4000; ++i) {
    forge.hand_over(PacketKind::data, i, bulk, FragmentFrame{.bytes = 64, .message = i, .total = 128});
  }
  EXPECT_LE(pair.b.common.long_messages.in_use(), 64u);
  for (int twice = 0; twice < 2; ++twice) {
    for (std::uint32_t i = 4000; i < 8000; ++i) {
      forge.hand_over(PacketKind::data, i, bulk,
                      PutFrame{.flags = kBulk | kSignal, .bytes = 64, .transfer = i}, SignalPart{1, 128, 1});
    }
  }
  EXPECT_TRUE(pair.b.upper.signals.empty());
  EXPECT_LE(pair.b.connection->counters().duplicate, 1024u);  // most were not accepted the first time
}

}  // namespace
}  // namespace aqueduct::conduits::udp::connection_tests
