// Pieces of the caller's memory as one operation: by message, by UCX's own puts, and as gets.

#include "conduits/loop/tests/allocation_count.hpp"
#include "conduits/ucx/tests/ucx_party.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::ucx {
namespace {

using core::Post;
using loop::allocations;
using ::testing::Pair;

/// The transports, and the setting of AQUEDUCT_UCX_PUT.
struct Way {
  const char* name;
  const char* transports;
  const char* put;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

/// Two ranks. Rank 1 has registered memory, and both ranks have imported its key.
class UcxVector : public ::testing::TestWithParam<Way> {
 protected:
  UcxVector() : party_(2, GetParam().transports, "0", GetParam().put) {}
  void SetUp() override {
    ASSERT_TRUE(party_.complete());
    memory_.resize(kBytes);
    mine_.resize(2 * kBytes);
    for (std::size_t i = 0; i < mine_.size(); ++i) mine_[i] = static_cast<std::byte>(i * 131 >> 3);
    auto key = party_[1].rma()->register_segment(0, memory_);
    ASSERT_TRUE(key);
    for (Rank rank = 0; rank < 2; ++rank) {
      const auto handle = party_[rank].rma()->import_key(1, *key);
      ASSERT_TRUE(handle);
      key_[rank] = *handle;
    }
  }

  /// Pieces of this rank's memory with a gap after each, and their bytes in one row.
  struct Pieces {
    std::vector<core::Bytes> from;
    std::vector<core::MutableBytes> to;
    std::vector<std::byte> together;
  };
  Pieces pieces(const std::vector<std::size_t>& lengths) {
    Pieces made;
    std::size_t at = 1;
    for (const std::size_t length : lengths) {
      const core::MutableBytes piece = core::MutableBytes(mine_).subspan(at, length);
      made.from.push_back(piece);
      made.to.push_back(piece);
      made.together.insert(made.together.end(), piece.begin(), piece.end());
      at += length + 3;
    }
    return made;
  }
  bool ends(core::Token token) {
    return party_.poll_until([&] { return party_.inbox(0).ends.size() == token; });
  }
  core::NativeVector& vector(Rank rank = 0) { return *party_[rank].vector(); }

  static constexpr std::size_t kBytes = 1 << 20;
  static constexpr std::uint64_t kOffset = 24;
  UcxParty party_;
  std::vector<std::byte> memory_;
  std::vector<std::byte> mine_;
  std::uint64_t key_[2] = {};
};

const std::vector<std::size_t> kLengths[] = {
    {8, 8}, {1, 100, 7, 3000}, {50'000, 1, 20'000}, {300'000, 200'000, 5}, std::vector<std::size_t>(64, 16)};

TEST_P(UcxVector, PutGathersInOrderAndEndsOnce) {
  core::Token token = 0;
  for (const auto& lengths : kLengths) {
    std::ranges::fill(memory_, std::byte{0xee});
    const auto sent = pieces(lengths);
    const core::RemotePiece to{kOffset, sent.together.size()};
    ASSERT_EQ(vector().put_pieces(1, key_[0], {&to, 1}, sent.from, ++token).kind, Post::Kind::posted);
    ASSERT_TRUE(ends(token));
    EXPECT_THAT(party_.inbox(0).ends.back(), Pair(token, Status()));
    EXPECT_EQ(memory_[kOffset - 1], std::byte{0xee});
    EXPECT_TRUE(std::equal(sent.together.begin(), sent.together.end(), memory_.begin() + kOffset));
    EXPECT_EQ(memory_[kOffset + sent.together.size()], std::byte{0xee});
  }
  for (int i = 0; i < 1000; ++i) party_.poll(0);
  EXPECT_EQ(party_.inbox(0).ends.size(), std::size(kLengths));
}

TEST_P(UcxVector, GetScattersInOrderAndEndsOnce) {
  for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = static_cast<std::byte>(i * 17 >> 2);
  core::Token token = 0;
  for (const auto& lengths : kLengths) {
    std::ranges::fill(mine_, std::byte{0xee});
    const auto wanted = pieces(lengths);
    const core::RemotePiece from{kOffset, wanted.together.size()};
    const Post post = vector().get_pieces(1, key_[0], {&from, 1}, wanted.to, ++token);
    ASSERT_EQ(post.kind, Post::Kind::posted);
    ASSERT_TRUE(ends(token));
    EXPECT_THAT(party_.inbox(0).ends.back(), Pair(token, Status()));
    const auto got = pieces(lengths).together;
    EXPECT_TRUE(std::equal(got.begin(), got.end(), memory_.begin() + kOffset));
    EXPECT_EQ(mine_[0], std::byte{0xee});
    EXPECT_EQ(mine_[1 + lengths[0]], std::byte{0xee}) << "the gap after the first piece";
  }
  for (int i = 0; i < 1000; ++i) party_.poll(0);
  EXPECT_EQ(party_.inbox(0).ends.size(), std::size(kLengths));
}

TEST_P(UcxVector, ToItselfIsDoneAtOnce) {
  const auto sent = pieces({5, 1000, 3});
  const core::RemotePiece there{kOffset, sent.together.size()};
  ASSERT_EQ(vector(1).put_pieces(1, key_[1], {&there, 1}, sent.from, 1).kind, Post::Kind::done);
  EXPECT_TRUE(std::equal(sent.together.begin(), sent.together.end(), memory_.begin() + kOffset));
  std::ranges::fill(mine_, std::byte{});
  ASSERT_EQ(vector(1).get_pieces(1, key_[1], {&there, 1}, sent.to, 2).kind, Post::Kind::done);
  EXPECT_EQ(pieces({5, 1000, 3}).together, sent.together);
}

TEST_P(UcxVector, BeyondItsLimitsIsRefused) {
  const auto many = pieces(std::vector<std::size_t>(vector().most_local() + 1, 8));
  const core::RemotePiece to[] = {{0, many.together.size()}, {8, 8}};
  EXPECT_EQ(vector().put_pieces(1, key_[0], {to, 1}, many.from, 1).why, ErrorCode::too_large);
  EXPECT_EQ(vector().get_pieces(1, key_[0], {to, 1}, many.to, 2).why, ErrorCode::too_large);
  const auto two = pieces({8, 8});
  EXPECT_EQ(vector().put_pieces(1, key_[0], to, two.from, 3).why, ErrorCode::too_large);
  EXPECT_EQ(vector().get_pieces(1, key_[0], to, two.to, 4).why, ErrorCode::too_large);
}

TEST_P(UcxVector, TakesNoMemoryAndOneMessageOrOneFlush) {
  const auto sent = pieces({8, 16, 24});
  const core::RemotePiece to{0, sent.together.size()};
  for (auto* inbox : {&party_.inbox(0), &party_.inbox(1)}) inbox->ends.reserve(1000);
  const auto put = [&](core::Token token) {
    ASSERT_EQ(vector().put_pieces(1, key_[0], {&to, 1}, sent.from, token).kind, Post::Kind::posted);
    ASSERT_TRUE(ends(token));
  };
  for (core::Token token = 1; token <= 100; ++token) ASSERT_NO_FATAL_FAILURE(put(token));
  const Counts before = party_.ucx(0).counts();
  const auto allocated = allocations();
  for (core::Token token = 101; token <= 200; ++token) ASSERT_NO_FATAL_FAILURE(put(token));
  EXPECT_EQ(allocations() - allocated, 0u);
  const Counts& after = party_.ucx(0).counts();
  EXPECT_EQ(after.put_messages - before.put_messages + after.flushes - before.flushes, 100u);
}

INSTANTIATE_TEST_SUITE_P(Over, UcxVector,
                         ::testing::Values(Way{"tcp", "tcp,self", "auto"},
                                           Way{"network", "tcp,self", "network"},
                                           Way{"posix", "posix,self", "auto"},
                                           Way{"cma", "posix,cma,self", "auto"}));

TEST(UcxVectorLoss, OfThePeerEndsPiecesOnce) {
  UcxParty party(2, "tcp,self");
  ASSERT_TRUE(party.complete());
  std::vector<std::byte> memory(1 << 20);
  std::vector<std::byte> mine(1 << 20);
  auto key = party[1].rma()->register_segment(0, memory);
  ASSERT_TRUE(key);
  const auto handle = party[0].rma()->import_key(1, *key);
  ASSERT_TRUE(handle);
  const core::MutableBytes to[] = {core::MutableBytes(mine).first(1000),
                                   core::MutableBytes(mine).last(500'000)};
  const core::Bytes from[] = {to[0], to[1]};
  const core::RemotePiece there{0, 501'000};
  ASSERT_EQ(party[0].vector()->get_pieces(1, *handle, {&there, 1}, to, 1).kind, Post::Kind::posted);
  ASSERT_EQ(party[0].vector()->put_pieces(1, *handle, {&there, 1}, from, 2).kind, Post::Kind::posted);
  party.leave(1);
  ASSERT_TRUE(
      party.poll_until([&] { return party.inbox(0).ends.size() == 2 && !party.inbox(0).losses.empty(); }));
  for (int i = 0; i < 1000; ++i) party.poll(0);
  EXPECT_THAT(party.inbox(0).ends, ::testing::UnorderedElementsAre(Pair(1, Status(ErrorCode::peer_lost, 1)),
                                                                   Pair(2, Status(ErrorCode::peer_lost, 1))));
}

}  // namespace
}  // namespace aqueduct::conduits::ucx
