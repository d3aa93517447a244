// Descriptions of remote pieces in packets, read back by the decoder; and malformed descriptions.

#include "tests/support/random_shape.hpp"
#include "vis/decode.hpp"
#include "vis/describe.hpp"
#include "vis/survey.hpp"
#include "vis/varint.hpp"

#include <gtest/gtest.h>

namespace aqueduct::vis {
namespace {

using test::AnyShape;
using test::RandomShapes;

std::vector<std::int64_t> decoded(DescriptionKind form, core::Bytes description, std::uint64_t base,
                                  std::uint64_t limit, std::uint64_t data, bool& good) {
  std::vector<std::int64_t> out;
  Decoder decoder(form, description, base, limit, data);
  Row row;
  while (decoder.next(row)) {
    for (std::uint64_t i = 0; i < row.count; ++i) {
      for (std::uint64_t k = 0; k < row.bytes; ++k)
        out.push_back(static_cast<std::int64_t>(row.place(i) + k));
    }
  }
  good = decoder.good();
  return out;
}

TEST(Describe, SaysOfEachPacketWhatTheNaiveLoopWouldDo) {
  int forms[3] = {};
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    RandomShapes random(seed);
    constexpr std::uint64_t kUnit = 4;
    AnyShape made =
        random.below(2) == 0 ? random.any(3000, kUnit) : random.of_sum(kUnit * random.below(700), kUnit);
    made.shape.base += 1000;
    const auto bytes = made.bytes();
    const Survey found = survey(made.shape);
    Cursor there(made.shape, found.bytes);
    std::vector<std::int64_t> all;
    std::vector<std::byte> packet(200 + random.below(2000));
    const PacketRoom room{packet.size(), packet.size() / (1 + random.below(2)), packet.size(), kUnit};
    while (there.remaining() != 0) {
      const std::uint64_t left = there.remaining();
      const Description said = describe_pieces(made.shape, found.bytes, there, room, packet.data());
      ASSERT_GT(said.data, 0u);
      ASSERT_EQ(left - there.remaining(), said.data);
      ASSERT_LE(am::padded(said.bytes) + said.data, room.together) << made.name << ", seed " << seed;
      ASSERT_LE(said.data, room.data);
      ASSERT_EQ(said.data % kUnit, 0u);
      ++forms[static_cast<int>(said.form)];
      bool good = false;
      const auto some = decoded(said.form, core::Bytes(packet).first(said.bytes), made.shape.base,
                                static_cast<std::uint64_t>(found.highest), said.data, good);
      ASSERT_TRUE(good) << made.name << ", seed " << seed;
      all.insert(all.end(), some.begin(), some.end());
      // With a segment that is one byte shorter, the decoder rejects it.
      if (found.highest == 1 + std::ranges::max(some)) {
        static_cast<void>(decoded(said.form, core::Bytes(packet).first(said.bytes), made.shape.base,
                                  static_cast<std::uint64_t>(found.highest) - 1, said.data, good));
        ASSERT_FALSE(good) << made.name << ", seed " << seed;
      }
    }
    ASSERT_EQ(all, bytes) << made.name << ", seed " << seed;
  }
  for (const int count : forms) EXPECT_GT(count, 100);
}

TEST(Describe, IsShort) {
  std::vector<std::byte> packet(8192);
  const PacketRoom room{packet.size(), packet.size(), packet.size(), 1};
  const Shape strided = Strided(8, {{1000, 850}}).shape;
  Cursor there(strided, 8000);
  EXPECT_LE(describe_pieces(strided, 8000, there, room, packet.data()).bytes, 8u);
  std::vector<std::int64_t> near;
  for (int i = 0; i < 500; ++i) near.push_back(i * 40 + i % 3 * 8);
  const Shape list = detail::shape_of(Indexed{near, 8});
  Cursor along(list, 4000);
  EXPECT_LE(describe_pieces(list, 4000, along, room, packet.data()).bytes, 504u)
      << "a byte for each near neighbour";
}

TEST(Decoder, RefusesWhatIsCutShortOrLeavesTheSegment) {
  std::byte text[64];
  bool good = true;
  std::byte* end = write_varint(write_varint(text, 8), 0);
  static_cast<void>(decoded(DescriptionKind::indexed, {text, end}, 0, 100, 8, good));
  EXPECT_FALSE(good) << "no offset";
  end = write_varint(end, zigzag(-1));
  static_cast<void>(decoded(DescriptionKind::indexed, {text, end}, 0, 100, 8, good));
  EXPECT_FALSE(good) << "below the segment";
  end = write_varint(write_varint(text, 0), 0);
  static_cast<void>(decoded(DescriptionKind::indexed, {text, end}, 0, 100, 8, good));
  EXPECT_FALSE(good) << "pieces of nothing";
  end = write_varint(write_varint(text, 0), 0);
  static_cast<void>(decoded(DescriptionKind::vector, {text, end}, 0, 100, 8, good));
  EXPECT_FALSE(good) << "a run of nothing";
  end = write_varint(write_varint(text, 8), 17);
  static_cast<void>(decoded(DescriptionKind::strided, {text, end}, 0, 100, 8, good));
  EXPECT_FALSE(good) << "17 dimensions";
  end = write_varint(write_varint(write_varint(text, 8), 0), 4);
  static_cast<void>(decoded(DescriptionKind::strided, {text, end}, 0, 100, 8, good));
  EXPECT_FALSE(good) << "more than there is behind the bytes stepped over";
  static_cast<void>(decoded(static_cast<DescriptionKind>(7), {text, end}, 0, 100, 8, good));
  EXPECT_FALSE(good) << "no such form";
}

TEST(Varint, HoldsEveryNumber) {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, ~std::uint64_t{0}}) {
    std::byte text[kMostVarint];
    core::Bytes all(text, write_varint(text, value));
    std::uint64_t read = 1;
    EXPECT_TRUE(read_varint(all, read));
    EXPECT_EQ(read, value);
    EXPECT_TRUE(all.empty());
    EXPECT_FALSE(read_varint(all, read)) << "nothing left";
  }
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
    EXPECT_EQ(unzigzag(zigzag(value)), value);
  }
  const std::byte long_one[11] = {std::byte{0x80}, std::byte{0x80}, std::byte{0x80}, std::byte{0x80},
                                  std::byte{0x80}, std::byte{0x80}, std::byte{0x80}, std::byte{0x80},
                                  std::byte{0x80}, std::byte{0x02}};
  core::Bytes all(long_one);
  std::uint64_t read = 0;
  EXPECT_FALSE(read_varint(all, read)) << "65 bits";
}

}  // namespace
}  // namespace aqueduct::vis
