#include "conduits/udp/protocol/decode.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace aqueduct::conduits::udp {
namespace {

using Buffer = std::vector<std::byte>;

template <class... Parts>
Buffer join(const Parts&... parts) {
  Buffer made;
  const auto add = [&](const void* from, std::size_t bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    made.insert(made.end(), at, at + bytes);
  };
  (add(&parts, sizeof parts), ...);
  return made;
}

/// A datagram of these frames and `data` bytes of bulk data.
Buffer datagram(PacketHeader header, const Buffer& frames, std::size_t data = 0) {
  header.frames = static_cast<std::uint16_t>(frames.size());
  header.data = static_cast<std::uint16_t>(data);
  Buffer made = join(header);
  made.insert(made.end(), frames.begin(), frames.end());
  made.resize(made.size() + data, std::byte{0xDA});
  return made;
}

bool good(PacketKind kind, const Buffer& frames, std::size_t data = 0) {
  PacketHeader header;
  header.kind = kind;
  Buffer bytes = datagram(header, frames, data);
  const auto packet = parse_packet(bytes, 0);
  EXPECT_TRUE(packet);
  return packet && needs_of(*packet);
}
bool good(const Buffer& frames, std::size_t data = 0) { return good(PacketKind::data, frames, data); }

/// A well-formed packet's frames become malformed when they are truncated or extended. Tried in words of 8 bytes,
/// because parse_packet rejects a header whose frames are not a multiple of 8.
void expect_exact(PacketKind kind, const Buffer& frames, std::size_t data = 0) {
  EXPECT_TRUE(good(kind, frames, data));
  for (std::size_t bytes = 8; bytes < frames.size(); bytes += 8) {
    EXPECT_FALSE(
        good(kind, Buffer(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(bytes)), data))
        << bytes << " bytes";
  }
  Buffer longer = frames;
  longer.resize(longer.size() + 8);  // appends a frame of kind 0
  EXPECT_FALSE(good(kind, longer, data));
  if (data == 0) {
    EXPECT_FALSE(good(kind, frames, 8));  // bulk data that no frame refers to
  } else {
    EXPECT_FALSE(good(kind, frames, 0));
    EXPECT_FALSE(good(kind, frames, data - 1));
    EXPECT_FALSE(good(kind, frames, data + 1));
  }
}

constexpr std::uint64_t kWord = 0x0123456789abcdef;

TEST(UdpDecode, CutsAPacketWhoseLengthsAddUp) {
  PacketHeader header;
  header.number = 7;
  Buffer bytes = datagram(header, join(MessageFrame{}), 5);
  bytes.resize(bytes.size() + 16);
  const auto packet = parse_packet(bytes, 16);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->header.number, 7u);
  EXPECT_EQ(packet->frames.data(), bytes.data() + sizeof header);
  EXPECT_EQ(packet->frames.size(), sizeof(MessageFrame));
  EXPECT_EQ(packet->data.size(), 5u);
  EXPECT_EQ(packet->trailer.size(), 16u);
  EXPECT_EQ(packet->trailer.data() + 16, bytes.data() + bytes.size());
}

TEST(UdpDecode, CutsNothingElse) {
  const Buffer genuine = datagram({}, join(MessageFrame{}), 5);
  const auto cut = [&](Buffer bytes, std::size_t trailer = 0) {
    return parse_packet(bytes, trailer).has_value();
  };
  const auto with = [&](auto PacketHeader::*field, auto value) {
    PacketHeader header;
    header.frames = 8;
    header.data = 5;
    header.*field = static_cast<std::remove_reference_t<decltype(header.*field)>>(value);
    Buffer bytes = genuine;
    std::memcpy(bytes.data(), &header, sizeof header);
    return cut(bytes);
  };
  EXPECT_TRUE(cut(genuine));
  for (std::size_t bytes = 0; bytes < genuine.size(); ++bytes) {
    EXPECT_FALSE(cut(Buffer(genuine.begin(), genuine.begin() + static_cast<std::ptrdiff_t>(bytes))));
  }
  EXPECT_FALSE(cut(genuine, 16));
  EXPECT_TRUE(with(&PacketHeader::frames, 8));
  EXPECT_FALSE(with(&PacketHeader::frames, 0));
  EXPECT_FALSE(with(&PacketHeader::frames, 13));  // adds up with data = 0, but is not a multiple of 8
  EXPECT_FALSE(with(&PacketHeader::frames, 0xFFF8));
  EXPECT_FALSE(with(&PacketHeader::data, 4));
  EXPECT_FALSE(with(&PacketHeader::data, 0xFFFF));
  EXPECT_FALSE(with(&PacketHeader::magic, 0x4151));
  EXPECT_FALSE(with(&PacketHeader::version, kWireVersion + 1));
  EXPECT_FALSE(with(&PacketHeader::version, 0));
}

TEST(UdpDecode, AnAcknowledgementIsAsLongAsItsRanges) {
  const AckRange range{1, 1};
  expect_exact(PacketKind::control, join(AckFrame{}));
  expect_exact(PacketKind::control, join(AckFrame{.ranges = 2}, range, range));
  Buffer most = join(AckFrame{.ranges = kMostAckRanges});
  for (std::size_t i = 0; i < kMostAckRanges; ++i) most.insert(most.end(), 8, std::byte{1});
  expect_exact(PacketKind::ping, most);
  Buffer more = join(AckFrame{.ranges = kMostAckRanges + 1});
  for (std::size_t i = 0; i <= kMostAckRanges; ++i) more.insert(more.end(), 8, std::byte{1});
  EXPECT_FALSE(good(PacketKind::control, more));
  EXPECT_FALSE(good(PacketKind::control, join(AckFrame{.ranges = 1}, AckRange{0, 1})));
  EXPECT_FALSE(good(PacketKind::control, join(AckFrame{.ranges = 1}, AckRange{1, 0})));
}

TEST(UdpDecode, AMessageIsPadded) {
  expect_exact(PacketKind::data, join(MessageFrame{}));
  for (const std::uint32_t bytes : {1u, 7u, 8u}) {
    expect_exact(PacketKind::data, join(MessageFrame{.bytes = bytes}, kWord));
  }
  expect_exact(PacketKind::data, join(MessageFrame{.bytes = 9}, kWord, kWord));
  EXPECT_FALSE(good(join(MessageFrame{.bytes = UINT32_MAX}, kWord)));
  Buffer longest = join(MessageFrame{.bytes = kMostMessage});
  longest.resize(longest.size() + kMostMessage);
  EXPECT_TRUE(good(longest));
  Buffer longer = join(MessageFrame{.bytes = kMostMessage + 1});
  longer.resize(longer.size() + kMostMessage + 8);
  EXPECT_FALSE(good(longer));
}

// The first bytes of a long message are frames and the rest is bulk data. The decoder returns both as one span.
TEST(UdpDecode, ALongMessageIsContiguous) {
  struct LongMessage {
    MessageFrame frame;
    std::array<std::byte, kGuarded> first{};
  };
  const auto of = [](std::uint32_t bytes) {
    return LongMessage{MessageFrame{.flags = kBulk, .bytes = bytes}};
  };
  const auto long_one = [&](std::uint32_t bytes) { return join(of(bytes)); };
  constexpr std::uint32_t kBytes = kGuarded + 13;
  expect_exact(PacketKind::data, long_one(kBytes), 16);
  for (const std::uint32_t wrong : {0u, std::uint32_t{kGuarded}, kBytes - 8, kBytes + 8, UINT32_MAX}) {
    EXPECT_FALSE(good(long_one(wrong), 16)) << wrong;
  }
  EXPECT_FALSE(good(join(of(kBytes), MessageFrame{}), 16)) << "its bytes are the last of the frames";
  EXPECT_TRUE(good(long_one(kMostMessage), kMostMessage - kGuarded));
  EXPECT_FALSE(good(long_one(kMostMessage + 1), kMostMessage + 8 - kGuarded));

  Buffer bytes = datagram({}, join(AckFrame{}, of(kBytes)), 16);
  const auto packet = parse_packet(bytes, 0);
  ASSERT_TRUE(packet);
  FrameReader reader(*packet);
  ASSERT_TRUE(reader.next());
  const auto frame = reader.next();
  ASSERT_TRUE(frame && std::holds_alternative<Message>(*frame));
  const auto message = std::get<Message>(*frame).bytes;
  EXPECT_EQ(message.size(), kBytes);
  EXPECT_EQ(message.data() + padded(kBytes), bytes.data() + bytes.size());
  EXPECT_TRUE(reader.good());
}

TEST(UdpDecode, AFragmentLiesInsideItsMessage) {
  const auto fragment = [](std::uint32_t bytes, std::uint32_t offset, std::uint32_t total) {
    return join(FragmentFrame{.bytes = bytes, .total = total, .offset = offset});
  };
  expect_exact(PacketKind::data, fragment(40, 0, 40), 40);
  expect_exact(PacketKind::data, fragment(40, 60, 100), 40);
  EXPECT_FALSE(good(fragment(40, 61, 100), 40));
  EXPECT_FALSE(good(fragment(40, 0, 39), 40));
  EXPECT_FALSE(good(fragment(40, 101, 100), 40));
  EXPECT_FALSE(good(fragment(40, UINT32_MAX - 8, UINT32_MAX), 40));
  EXPECT_FALSE(good(fragment(40, 0, kMostMessage + 1), 40));
  EXPECT_TRUE(good(fragment(40, kMostMessage - 40, kMostMessage), 40));
  EXPECT_FALSE(good(fragment(0, 0, 40)));
  EXPECT_FALSE(good(fragment(UINT32_MAX, 0, UINT32_MAX), 40));
}

TEST(UdpDecode, APutHasItsBytesHereOrInBulk) {
  expect_exact(PacketKind::data, join(PutFrame{}));
  expect_exact(PacketKind::data, join(PutFrame{.bytes = 3}, kWord));
  expect_exact(PacketKind::data, join(PutFrame{.flags = kBulk, .bytes = 33}), 33);
  EXPECT_FALSE(good(join(PutFrame{.flags = kBulk})));
  EXPECT_FALSE(good(join(PutFrame{.bytes = UINT32_MAX}, kWord)));
}

TEST(UdpDecode, ASignalFollowsItsPut) {
  expect_exact(PacketKind::data, join(PutFrame{.flags = kSignal}, SignalPart{}));
  expect_exact(PacketKind::data, join(PutFrame{.flags = kSignal, .bytes = 8}, SignalPart{.total = 8}, kWord));
  expect_exact(PacketKind::data,
               join(PutFrame{.flags = kSignal | kBulk, .bytes = 33}, SignalPart{.total = 99}), 33);
  EXPECT_FALSE(good(join(PutFrame{.flags = kSignal, .bytes = 8}, SignalPart{.total = 7}, kWord)));
  EXPECT_FALSE(good(join(PutFrame{.flags = kSignal | kBulk, .bytes = 33}, SignalPart{.total = 32}), 33));
}

TEST(UdpDecode, AWordFollowsItsSignal) {
  constexpr std::uint8_t kBoth = kSignal | kToWord;
  expect_exact(PacketKind::data, join(PutFrame{.flags = kBoth}, SignalPart{}, WordPart{}));
  expect_exact(PacketKind::data, join(PutFrame{.flags = kBoth | kSetsWord, .bytes = 8},
                                      SignalPart{.total = 8}, WordPart{.offset = 64}, kWord));
  EXPECT_FALSE(good(join(PutFrame{.flags = kToWord}, WordPart{}))) << "a word without a signal";
}

TEST(UdpDecode, AGetAsksForSomething) {
  expect_exact(PacketKind::data, join(GetFrame{.bytes = 1}));
  EXPECT_FALSE(good(join(GetFrame{})));
}

TEST(UdpDecode, DataAreHereOrInBulk) {
  expect_exact(PacketKind::data, join(DataFrame{.bytes = 5}, kWord));
  expect_exact(PacketKind::data, join(DataFrame{.flags = kBulk, .bytes = 33}), 33);
  EXPECT_FALSE(good(join(DataFrame{})));
  expect_exact(PacketKind::data, join(DataFrame{.flags = kRefused}));
  EXPECT_FALSE(good(join(DataFrame{.flags = kRefused, .bytes = 5}, kWord)));
  EXPECT_FALSE(good(join(DataFrame{.flags = kRefused | kBulk, .bytes = 33}), 33));
  EXPECT_FALSE(good(join(DataFrame{.flags = kBulk})));
}

TEST(UdpDecode, FarewellsAndAnswersToProbes) {
  expect_exact(PacketKind::control, join(CloseFrame{}));
  EXPECT_TRUE(good(PacketKind::control, join(AckFrame{}, CloseFrame{})));
  expect_exact(PacketKind::probe_answer, join(ProbeFrame{.bytes = 1400}));
}

TEST(UdpDecode, UpdatesAreAtomicsThatExistAndHaveNoResult) {
  const auto update = [](AtomicOp op, AtomicType type) {
    return UpdateFrame{.op = static_cast<std::uint8_t>(op), .type = static_cast<std::uint8_t>(type)};
  };
  expect_exact(PacketKind::data, join(update(AtomicOp::add, AtomicType::u64)));
  EXPECT_TRUE(good(join(update(AtomicOp::swap, AtomicType::f32), update(AtomicOp::store, AtomicType::i32))));
  EXPECT_FALSE(good(join(update(AtomicOp::load, AtomicType::u64))));
  EXPECT_FALSE(good(join(update(AtomicOp::compare_swap, AtomicType::u64))));
  EXPECT_FALSE(good(join(update(AtomicOp::bit_or, AtomicType::f64))));
  EXPECT_FALSE(good(join(UpdateFrame{.op = 200})));
  EXPECT_FALSE(good(join(UpdateFrame{.op = 2, .type = 6})));
  EXPECT_FALSE(good(PacketKind::control, join(update(AtomicOp::add, AtomicType::u64))));
}

TEST(UdpDecode, OnlyTheLastFrameMayNameBulkDataAndOnlyOnce) {
  const PutFrame put{.flags = kBulk, .bytes = 16};
  EXPECT_TRUE(good(join(AckFrame{}, put), 16));
  EXPECT_FALSE(good(join(put, put), 16));
  EXPECT_FALSE(good(join(put, put), 32));
  EXPECT_FALSE(good(join(put, MessageFrame{}), 16));
  EXPECT_FALSE(good(join(put, DataFrame{.flags = kBulk, .bytes = 16}), 16));
}

TEST(UdpDecode, KnowsNoOtherKinds) {
  int known = 0;
  for (int kind = 0; kind < 256; ++kind) {
    Buffer frames(64);
    frames[0] = static_cast<std::byte>(kind);
    PacketHeader header;
    Buffer bytes = datagram(header, frames);
    FrameReader reader(*parse_packet(bytes, 0));
    if (reader.next()) ++known;
  }
  EXPECT_EQ(known, 5);  // ack, message, put, close, probe: the others are malformed if all zero
}

TEST(UdpDecode, WorkAndTheLinksOwnAffairsDoNotMix) {
  for (const PacketKind kind : {PacketKind::control, PacketKind::ping, PacketKind::probe_answer}) {
    EXPECT_TRUE(good(kind, join(AckFrame{})));
    EXPECT_TRUE(good(kind, join(CloseFrame{})));
    EXPECT_FALSE(good(kind, join(MessageFrame{})));
    EXPECT_FALSE(good(kind, join(AckFrame{}, MessageFrame{})));
    EXPECT_FALSE(good(kind, join(PutFrame{})));
    EXPECT_FALSE(good(kind, join(GetFrame{.bytes = 1})));
    EXPECT_FALSE(good(kind, join(DataFrame{.bytes = 5}, kWord)));
    EXPECT_FALSE(good(kind, join(FragmentFrame{.bytes = 8, .total = 8}), 8));
  }
  EXPECT_FALSE(good(join(CloseFrame{})));
  EXPECT_FALSE(good(join(ProbeFrame{})));
  EXPECT_TRUE(good({}));
}

TEST(UdpDecode, AProbeIsPaddingAlone) {
  EXPECT_TRUE(good(PacketKind::probe, {}, 1400));
  EXPECT_FALSE(good(PacketKind::probe, join(AckFrame{}), 1400));
}

}  // namespace
}  // namespace aqueduct::conduits::udp
