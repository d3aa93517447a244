#include "bootstrap/wire.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

namespace aqueduct::bootstrap::wire {
namespace {

Blob bytes(std::size_t count, unsigned seed) {
  Blob made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<std::byte>(i * 7 + seed);
  return made;
}

std::vector<Message> one_of_each() {
  return {Hello{kProtocol, 100, 7},
          Exchange{3, bytes(5, 1)},
          Exchange{0xffffffff, {}},
          ExchangeResult{4, {bytes(3, 2), {}, bytes(300, 3)}},
          ExchangeResult{0, {}},
          Lost{255},
          Leave{},
          Abort{-3, "no more fuel"},
          Refused{ErrorCode::version_mismatch, "0.1.0 and 0.2.0"},
          Exit{258, -7}};
}

Blob without_length(const Blob& frame) { return {frame.begin() + 4, frame.end()}; }

TEST(Wire, EveryMessageComesBackAsItWas) {
  for (const Message& message : one_of_each()) {
    const auto back = decode(without_length(encode(message)));
    ASSERT_TRUE(back) << "kind " << message.index();
    EXPECT_EQ(*back, message) << "kind " << message.index();
  }
}

TEST(Wire, NumbersAreLittleEndian) {
  const Blob frame = encode(Lost{0x01020304});
  const Blob expected{std::byte{5}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{4},
                      std::byte{4}, std::byte{3}, std::byte{2}, std::byte{1}};
  EXPECT_EQ(frame, expected);
}

TEST(Wire, AnExitIsTheSameWithoutAllocation) {
  for (const Exit exit : {Exit{0, 0}, Exit{0x01020304, 7}, Exit{0xffffffff, -1}}) {
    const auto frame = encode_exit(exit);
    EXPECT_EQ(Blob(frame.begin(), frame.end()), encode(exit)) << exit.code;
  }
}

TEST(Wire, ALeaveIsTheSameWithoutAllocation) {
  const auto frame = encode_leave();
  EXPECT_EQ(Blob(frame.begin(), frame.end()), encode(Leave{}));
}

TEST(Wire, EveryTruncationIsAnError) {
  for (const Message& message : one_of_each()) {
    const Blob frame = without_length(encode(message));
    for (std::size_t length = 0; length < frame.size(); ++length) {
      EXPECT_EQ(decode(std::span(frame).first(length)).status().code(), ErrorCode::bootstrap_failed)
          << "kind " << message.index() << " cut to " << length;
    }
  }
}

TEST(Wire, OnlyAHelloMayBeLongerThanKnown) {
  for (const Message& message : one_of_each()) {
    Blob frame = without_length(encode(message));
    frame.push_back(std::byte{1});
    EXPECT_EQ(decode(frame).ok(), std::holds_alternative<Hello>(message)) << "kind " << message.index();
  }
}

TEST(Wire, UnknownKindsAreErrors) {
  for (const int kind : {0, 9, 255}) EXPECT_FALSE(decode(Blob{static_cast<std::byte>(kind)})) << kind;
}

TEST(Wire, ACountThatCannotBeTrueIsNotBelieved) {
  Blob frame = without_length(encode(ExchangeResult{0, {bytes(3, 0)}}));
  for (std::size_t i = 5; i < 9; ++i) frame[i] = std::byte{0xff};
  EXPECT_FALSE(decode(frame));
}

TEST(Wire, CodesOfALaterVersionBecomeAGeneralFailure) {
  Blob frame = without_length(encode(Refused{ErrorCode::peer_lost, "x"}));
  frame[1] = std::byte{0xe7};
  frame[2] = std::byte{0x03};
  const auto back = decode(frame);
  ASSERT_TRUE(back);
  EXPECT_EQ(std::get<Refused>(*back).code, ErrorCode::bootstrap_failed);
}

TEST(Wire, LongTextsAreCut) {
  const auto back = decode(without_length(encode(Abort{1, std::string(kMostText + 1, 'x')})));
  ASSERT_TRUE(back);
  EXPECT_EQ(std::get<Abort>(*back).why.size(), kMostText);
}

TEST(Wire, LongTextsAreCutBetweenCharacters) {
  for (const std::string_view character : {"\u00e9", "\u20ac", "\U0001f41f"}) {
    for (std::size_t fits = 0; fits <= character.size(); ++fits) {
      const std::string before(kMostText - fits, 'x');
      const auto back = decode(without_length(encode(Abort{1, before + std::string(character) + "y"})));
      ASSERT_TRUE(back);
      EXPECT_EQ(std::get<Abort>(*back).why,
                fits == character.size() ? before + std::string(character) : before)
          << fits << " of " << character.size() << " bytes fit";
    }
  }
  EXPECT_EQ(whole_characters(std::string(9, '\x80'), 5).size(), 5u) << "this is not UTF-8";
  EXPECT_EQ(whole_characters("\x80\x80\x80", 2).size(), 2u);
  EXPECT_EQ(whole_characters("\u20ac", 2), "");
  EXPECT_EQ(whole_characters("\u20ac", 3), "\u20ac");
}

TEST(Wire, GarbageNeverDecodesToMoreThanItHas) {
  std::mt19937 random(4711);
  for (int round = 0; round < 20000; ++round) {
    Blob frame(random() % 64);
    for (std::byte& byte : frame) byte = static_cast<std::byte>(random() % 8 == 0 ? random() : random() % 8);
    const auto found = decode(frame);
    if (!found) continue;
    EXPECT_LE(encode(*found).size(), frame.size() + 4) << "seed 4711, round " << round;
  }
}

TEST(Frames, ComeOutWholeHoweverTheStreamIsCut) {
  Blob stream;
  for (const Message& message : one_of_each()) {
    const Blob frame = encode(message);
    stream.insert(stream.end(), frame.begin(), frame.end());
  }
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{64}, stream.size()}) {
    Frames frames;
    std::vector<Message> found;
    for (std::size_t from = 0; from < stream.size(); from += piece) {
      frames.append(std::span(stream).subspan(from, std::min(piece, stream.size() - from)));
      for (;;) {
        auto next = frames.next();
        ASSERT_TRUE(next);
        if (!*next) break;
        found.push_back(std::move(**next));
      }
    }
    EXPECT_EQ(found, one_of_each()) << "in pieces of " << piece;
  }
}

TEST(Frames, RefuseALengthAboveTheLimitAndZero) {
  for (const std::uint32_t length :
       {std::uint32_t{0}, static_cast<std::uint32_t>(kMostFrame + 1), 0xffffffffu}) {
    Frames frames;
    Blob start;
    for (int i = 0; i < 4; ++i) start.push_back(static_cast<std::byte>(length >> (8 * i)));
    frames.append(start);
    EXPECT_EQ(frames.next().status().code(), ErrorCode::bootstrap_failed) << length;
  }
}

}  // namespace
}  // namespace aqueduct::bootstrap::wire
