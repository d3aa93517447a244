#include "conduits/loop/loop_native.hpp"
#include "conduits/loop/tests/party.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace aqueduct::conduits::loop {
namespace {

using core::Post;
using core::RemotePiece;
using ::testing::ElementsAre;
using ::testing::Pair;

/// Two ranks; rank 1 has registered 256 bytes, and rank 0 imported their key.
class LoopVector : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(party_.complete());
    auto key = party_[1].rma()->register_segment(3, memory_);
    ASSERT_TRUE(key);
    const auto handle = party_[0].rma()->import_key(1, *key);
    ASSERT_TRUE(handle);
    key_ = *handle;
  }
  core::NativeVector& vector() noexcept { return *party_[0].vector(); }

  std::vector<std::byte> memory_ = std::vector<std::byte>(256);
  LoopParty party_{2, {.native = LoopOptions::Native::rma, .seed = GetParam(), .queue = 4}};
  std::uint64_t key_ = 0;
};

TEST_P(LoopVector, MovesItsBytesBetweenThePostAndTheCompletionOnce) {
  std::string text = "to be replaced";
  {
    const std::vector<core::Bytes> from{bytes_of_text(text).first(5), bytes_of_text(text).subspan(5)};
    const std::vector<RemotePiece> to{{100, 13}, {3, 1}};
    ASSERT_EQ(vector().put_pieces(1, key_, to, from, 42).kind, Post::Kind::posted);
  }  // the lists end here
  EXPECT_EQ(memory_[100], std::byte{0}) << "nothing may be relied on before completion";
  text = "read when done";
  party_.poll_until_quiet();
  EXPECT_THAT(party_.inbox(0).ends, ElementsAre(Pair(42, Status{})));
  EXPECT_EQ(std::memcmp(&memory_[100], "read when don", 13), 0);
  EXPECT_EQ(memory_[3], std::byte{'e'});
  EXPECT_TRUE(party_.inbox(1).signals.empty());

  std::string read(14, ' ');
  const core::MutableBytes place(reinterpret_cast<std::byte*>(read.data()), read.size());
  const std::vector<core::MutableBytes> to{place.first(1), place.subspan(1)};
  const std::vector<RemotePiece> from{{3, 1}, {100, 13}};
  ASSERT_EQ(vector().get_pieces(1, key_, from, to, 43).kind, Post::Kind::posted);
  party_.poll_until_quiet();
  EXPECT_EQ(read, "eread when don");
  EXPECT_THAT(party_.inbox(0).ends, ElementsAre(Pair(42, Status{}), Pair(43, Status{})));
}

TEST_P(LoopVector, RefusesAPieceOutsideTheSegmentWhole) {
  const std::vector<std::byte> bytes(10, std::byte{1});
  const std::vector<core::Bytes> from{bytes};
  for (const RemotePiece outside : {RemotePiece{255, 2}, RemotePiece{~std::uint64_t{0}, 2}}) {
    const std::vector<RemotePiece> to{{0, 8}, outside};
    EXPECT_EQ(vector().put_pieces(1, key_, to, from, 1).why, ErrorCode::out_of_range);
  }
  const std::vector<RemotePiece> to{{0, 10}};
  EXPECT_EQ(vector().put_pieces(2, key_, to, from, 1).why, ErrorCode::out_of_range)
      << "there is no such rank";
  party_.poll_until_quiet();
  EXPECT_EQ(memory_, std::vector<std::byte>(256));
  EXPECT_TRUE(party_.inbox(0).ends.empty());
}

TEST_P(LoopVector, CompletesWithPeerLostWhenTheTargetCloses) {
  const std::vector<std::byte> bytes(10);
  const std::vector<core::Bytes> from{bytes};
  const std::vector<RemotePiece> to{{0, 4}, {8, 6}};
  ASSERT_EQ(vector().put_pieces(1, key_, to, from, 6).kind, Post::Kind::posted);
  party_.close(1);
  party_.poll_until_quiet();
  EXPECT_THAT(party_.inbox(0).ends, ElementsAre(Pair(6, Status(ErrorCode::peer_lost, 1))));
}

INSTANTIATE_TEST_SUITE_P(InOrderAndShuffled, LoopVector, ::testing::Values(0, 4));

}  // namespace
}  // namespace aqueduct::conduits::loop
