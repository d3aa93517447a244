// Lists of pieces over the mock network.

#include "conduits/ibv/tests/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace aqueduct::conduits::ibv {
namespace {

using Kind = core::Post::Kind;

/// Offsets and sizes of pieces, one byte apart: 3000 bytes in all.
constexpr std::size_t kSizes[] = {1, 200, 799, 2000};

class IbvVector : public testing::Test {
 protected:
  void SetUp() override {
    ranks.meet();
    ASSERT_NE(ranks[0].vector(), nullptr);
  }

  /// Pieces of a buffer.
  template <class Bytes>
  static std::vector<Bytes> local(Bytes buffer) {
    std::vector<Bytes> pieces;
    std::size_t at = 0;
    for (const std::size_t size : kSizes) {
      pieces.push_back(buffer.subspan(at, size));
      at += size + 1;
    }
    return pieces;
  }
  static std::vector<std::byte> gathered(std::span<const std::byte> buffer) {
    std::vector<std::byte> all;
    for (const core::Bytes piece : local(core::Bytes(buffer)))
      all.insert(all.end(), piece.begin(), piece.end());
    return all;
  }
  std::vector<std::byte> there(std::span<const core::RemotePiece> remote) {
    std::vector<std::byte> all;
    for (const core::RemotePiece& piece : remote) {
      const auto part = std::span(ranks.memory(1)).subspan(piece.offset, piece.bytes);
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }

  const std::vector<core::RemotePiece> scattered{{10, 700}, {2000, 300}, {9000, 2000}};
  const std::vector<core::RemotePiece> whole{{64, 3000}};
  Ranks ranks;
};

TEST_F(IbvVector, FromASegmentIsARequestForEachPieceOfThePeers) {
  auto& segment = ranks.memory(0);
  std::ranges::copy(bytes_of(4000), segment.begin());
  core::Token token = 1;
  for (const auto& remote : {whole, scattered}) {
    ranks.network().counts = {};
    const auto pieces = local(core::Bytes(segment));
    ASSERT_EQ(ranks[0].vector()->put_pieces(1, ranks.key(), remote, pieces, token).kind, Kind::posted);
    EXPECT_TRUE(ranks.end_of(token++));
    EXPECT_EQ(there(remote), gathered(segment));
    EXPECT_EQ(ranks.network().counts.writes, static_cast<int>(remote.size()));
    EXPECT_EQ(ranks.network().counts.doorbells, 1);
    EXPECT_EQ(ranks.network().counts.completions, 1);
  }
}

TEST_F(IbvVector, OfOtherMemoryTravelsBothWays) {
  auto buffer = bytes_of(4000, 3);
  core::Token token = 1;
  for (const auto& remote : {whole, scattered}) {
    const auto pieces = local(core::Bytes(buffer));
    ASSERT_EQ(ranks[0].vector()->put_pieces(1, ranks.key(), remote, pieces, token).kind, Kind::posted);
    EXPECT_TRUE(ranks.end_of(token++));
    EXPECT_EQ(there(remote), gathered(buffer));
    std::vector<std::byte> got(4000);
    const auto places = local(core::MutableBytes(got));
    ASSERT_EQ(ranks[0].vector()->get_pieces(1, ranks.key(), remote, places, token).kind, Kind::posted);
    EXPECT_TRUE(ranks.end_of(token++));
    EXPECT_EQ(gathered(got), gathered(buffer));
    EXPECT_EQ(got[kSizes[0]], std::byte{0}) << "between the pieces";
  }
  EXPECT_EQ(ranks.network().counts.breaches, 0);
}

TEST_F(IbvVector, TooLongForBounceBuffersIsRegistered) {
  std::vector<std::byte> one = bytes_of(20'000, 4);
  std::vector<std::byte> other = bytes_of(9'000, 5);
  const core::Bytes pieces[] = {one, other};
  const core::RemotePiece remote[] = {{0, 15'000}, {100'000, 14'000}};
  ASSERT_EQ(ranks[0].vector()->put_pieces(1, ranks.key(), remote, pieces, 1).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  auto expected = one;
  expected.insert(expected.end(), other.begin(), other.end());
  EXPECT_EQ(there(remote), expected);
}

TEST_F(IbvVector, ToOneselfIsACopy) {
  const auto buffer = bytes_of(4000, 6);
  const auto pieces = local(core::Bytes(buffer));
  ASSERT_EQ(ranks[0].vector()->put_pieces(0, ranks.key(0), whole, pieces, 1).kind, Kind::done);
  const auto expected = gathered(buffer);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), ranks.memory(0).begin() + 64));
}

TEST_F(IbvVector, OfWrongShapeIsRefused) {
  const auto buffer = bytes_of(4000);
  const auto pieces = local(core::Bytes(buffer));
  const auto put = [&](std::vector<core::RemotePiece> remote) {
    return ranks[0].vector()->put_pieces(1, ranks.key(), remote, pieces, 1).why;
  };
  EXPECT_EQ(put({{0, 2999}}), ErrorCode::invalid_argument);
  EXPECT_EQ(put({{0, 3000}, {5000, 0}}), ErrorCode::invalid_argument);
  EXPECT_EQ(put({{Ranks::kSegment - 2999, 3000}}), ErrorCode::out_of_range);
  EXPECT_EQ(put(std::vector<core::RemotePiece>(9, {0, 300})), ErrorCode::too_large);
  EXPECT_EQ(ranks.network().counts.requests(), 0);
}

TEST_F(IbvVector, WaitsAsAWholeForRoom) {
  const auto buffer = bytes_of(4000, 7);
  const auto pieces = local(core::Bytes(buffer));
  ranks.network().faults.silent = true;
  core::Token posted = 0;
  const auto put = [&] {
    return ranks[0].vector()->put_pieces(1, ranks.key(), scattered, pieces, 100 + posted);
  };
  while (posted < 1000 && put().kind == Kind::posted) ++posted;
  ASSERT_GT(posted, 1u);
  ASSERT_LT(posted, 100u);
  EXPECT_EQ(put().kind, Kind::retry);
  ranks.network().resume();
  for (core::Token token = 0; token < posted; ++token) EXPECT_TRUE(ranks.end_of(100 + token));
  EXPECT_EQ(ranks.insist(put).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(100 + posted));
}

TEST(IbvVectorOfASmallDevice, IsNone) {
  IbvOptions options;
  options.depth = 16;
  Ranks ranks(options);
  EXPECT_EQ(ranks[0].vector(), nullptr);
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
