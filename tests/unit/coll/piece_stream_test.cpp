#include "coll/piece_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace aqueduct::coll {
namespace {

Blob numbered(std::size_t bytes) {
  Blob all(bytes);
  for (std::size_t i = 0; i < bytes; ++i) all[i] = static_cast<std::byte>(i * 7 + 1);
  return all;
}

TEST(PieceStream, IsWholeOnceAllPiecesAreHereInWhateverOrder) {
  const Blob sent = numbered(100);
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::pair<std::size_t, std::size_t>> pieces;  // place, bytes
    for (std::size_t at = 0; at < sent.size();) {
      const std::size_t bytes = std::min<std::size_t>(1 + random() % 40, sent.size() - at);
      pieces.emplace_back(at, bytes);
      at += bytes;
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    PieceStream stream;
    for (const auto& [at, bytes] : pieces) {
      EXPECT_FALSE(stream.whole());
      ASSERT_TRUE(stream.add(at, sent.size(), std::span(sent).subspan(at, bytes)));
    }
    ASSERT_TRUE(stream.whole());
    ASSERT_EQ(stream.take(), sent);
  }
}

TEST(PieceStream, RefusesWhatContradictsItself) {
  const Blob some = numbered(10);
  PieceStream stream;
  EXPECT_FALSE(stream.add(0, 0, {}));
  EXPECT_FALSE(stream.add(0, 9, some));            // more than all
  EXPECT_FALSE(stream.add(UINT64_MAX, 10, some));  // beyond the end
  EXPECT_FALSE(stream.add(UINT64_MAX - 4, UINT64_MAX, some));
  ASSERT_TRUE(stream.add(20, 100, some));
  EXPECT_FALSE(stream.add(0, 101, some));   // another length
  EXPECT_FALSE(stream.add(20, 100, some));  // again
  EXPECT_FALSE(stream.add(15, 100, some));  // over its beginning
  EXPECT_FALSE(stream.add(29, 100, some));  // over its end
  EXPECT_FALSE(stream.add(25, 100, std::span(some).first(1)));
  EXPECT_TRUE(stream.add(30, 100, some));
  EXPECT_TRUE(stream.add(10, 100, some));
  EXPECT_FALSE(stream.whole());
}

// A length that is announced but never sent: memory is kept only for what has arrived.
TEST(PieceStream, OfAnAnnouncedEndlessStreamKeepsWhatCame) {
  PieceStream stream;
  ASSERT_TRUE(stream.add(UINT64_MAX / 2, UINT64_MAX, numbered(10)));
  EXPECT_FALSE(stream.whole());
}

}  // namespace
}  // namespace aqueduct::coll
