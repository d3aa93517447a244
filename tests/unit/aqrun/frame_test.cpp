#include "tools/aqrun/frame.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace aqrun {
namespace {

std::vector<Frame> some_frames() {
  return {{Kind::hello, 0, kAgentProtocol, std::string(kAgentMagic) + "1.2.3"},
          {Kind::start, 0, 1, {}},
          {Kind::bootstrap, 7, 0, std::string("\0\xff secret", 9)},
          {Kind::ended, 0xfffffffe, 0x01020304, {}},
          {Kind::cleared, 0, 0, std::string(kMostFrameBytes, 'x')}};
}

/// Takes all frames that have arrived.
std::vector<Frame> all_of(FrameReader& reader) {
  std::vector<Frame> found;
  while (auto frame = reader.next()) found.push_back(std::move(*frame));
  return found;
}

TEST(AqrunFrame, HasTheLayoutThatItSays) {
  EXPECT_EQ(encode({Kind::folder, 0x0201, 3, "ab"}),
            std::string("\x0b\0\0\0\x02\x01\x02\0\0\x03\0\0\0ab", 15));
}

TEST(AqrunFrame, ComesBackHoweverTheStreamIsCut) {
  std::string stream;
  for (const Frame& frame : some_frames()) stream += encode(frame);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, stream.size()}) {
    FrameReader reader;
    std::vector<Frame> found;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      reader.append(std::string_view(stream).substr(at, piece));
      for (Frame& frame : all_of(reader)) found.push_back(std::move(frame));
    }
    EXPECT_EQ(found, some_frames()) << "in pieces of " << piece;
    EXPECT_TRUE(reader.rest().empty());
    EXPECT_FALSE(reader.broken());
  }
}

TEST(AqrunFrame, WaitsForTheRest) {
  const std::string whole = encode({Kind::argument, 0, 0, "hello"});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    FrameReader reader;
    reader.append(std::string_view(whole).substr(0, length));
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.broken()) << length;
  }
}

std::string with_length(std::uint32_t length) {
  std::string frame = encode({Kind::argument, 0, 0, "hello"});
  for (unsigned i = 0; i < 4; ++i) frame[i] = static_cast<char>(length >> (8 * i));
  return frame;
}

TEST(AqrunFrame, IsRefusedWithALengthOutsideTheLimits) {
  for (const std::uint32_t length :
       {std::uint32_t{0}, std::uint32_t{8}, static_cast<std::uint32_t>(kMostFrameBytes + 10), 0xffffffffu}) {
    FrameReader reader;
    reader.append(with_length(length));
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.broken()) << length;
  }
}

TEST(AqrunFrame, IsRefusedWithAKindThatIsNone) {
  for (const int kind : {0, static_cast<int>(kLastKind) + 1, 255}) {
    std::string frame = encode({Kind::argument, 0, 0, "hello"});
    frame[4] = static_cast<char>(kind);
    FrameReader reader;
    reader.append(frame + encode({Kind::argument, 0, 0, "after it"}));
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.broken()) << kind;
    EXPECT_FALSE(reader.next());
  }
}

TEST(AqrunFrame, IsNotWhatAShellPrints) {
  FrameReader reader;
  reader.append("Welcome to host b!\n");
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.broken());
  EXPECT_EQ(reader.rest(), "Welcome to host b!\n");
}

// The hello is not waited for as a part of a longer frame.
TEST(AqrunFrame, IsNotWhatFollowsAShortLine) {
  for (const char* line : {"\n", "x", "\r\n", "ok\n", "\n\n\n\n"}) {
    FrameReader reader;
    reader.append(line + encode(some_frames().front()));
    EXPECT_FALSE(reader.next());
    EXPECT_TRUE(reader.broken()) << line;
  }
}

TEST(AqrunFrame, FromRandomBytesIsWithinItsBounds) {
  std::mt19937 random(20261121);
  for (int round = 0; round < 2000; ++round) {
    FrameReader reader;
    std::string noise;
    for (int i = 0; i < 64; ++i) noise += static_cast<char>(random() % (i % 4 == 0 ? 256 : 3));
    reader.append(noise);
    for (const Frame& frame : all_of(reader)) {
      EXPECT_LE(frame.bytes.size(), noise.size());
      EXPECT_GE(frame.kind, Kind::hello);
      EXPECT_LE(frame.kind, kLastKind);
    }
  }
}

}  // namespace
}  // namespace aqrun
