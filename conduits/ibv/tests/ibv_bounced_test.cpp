// Transfers whose local memory the device does not register: all bytes arrive, in pieces and in order.

#include "conduits/ibv/tests/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace aqueduct::conduits::ibv {
namespace {

using Kind = core::Post::Kind;
using testing::HasSubstr;

constexpr std::size_t kLong = 1'000'000;  // more pieces than bounce buffers

class IbvBounced : public testing::Test {
 protected:
  void SetUp() override {
    ranks.meet(1);
    ranks.meet(2);
    ranks.network().faults.lockable = ranks.network().registered();
  }

  bool arrived(std::size_t at, const std::vector<std::byte>& bytes, Rank at_rank = 1) {
    return std::equal(bytes.begin(), bytes.end(),
                      ranks.memory(at_rank).begin() + static_cast<std::ptrdiff_t>(at));
  }
  Kind put(const std::vector<std::byte>& from, core::Token token, Rank peer = 1) {
    return ranks.insist([&] { return ranks[0].rma()->put(peer, ranks.key(peer), 64, from, false, token); })
        .kind;
  }

  Ranks ranks{{}, 3};
  const std::vector<std::byte> sent = bytes_of(kLong);
};

TEST_F(IbvBounced, PutsArriveAndAreSaidOnce) {
  ASSERT_EQ(put(sent, 1), Kind::posted);
  ASSERT_EQ(put(sent, 2, 2), Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(ranks.end_of(2));
  EXPECT_TRUE(arrived(64, sent));
  EXPECT_TRUE(arrived(64, sent, 2));
  ASSERT_EQ(ranks.log().size(), 1u) << ranks.said();
  EXPECT_THAT(ranks.said(), HasSubstr("1000000 bytes of local memory outside segments cannot be registered"));
  EXPECT_THAT(ranks.said(), HasSubstr("ulimit -l"));
  EXPECT_EQ(ranks.network().counts.breaches, 0);
}

TEST_F(IbvBounced, MoreThanAreRememberedWait) {
  core::Token token = 0;
  for (; token < 2 * BounceQueue::kMost; ++token) ASSERT_EQ(put(sent, token), Kind::posted) << token;
  for (core::Token each = 0; each < token; ++each) EXPECT_TRUE(ranks.end_of(each)) << each;
}

TEST_F(IbvBounced, GetsArrive) {
  std::copy(sent.begin(), sent.end(), ranks.memory(1).begin() + 8);
  std::vector<std::byte> got(kLong);
  ASSERT_EQ(ranks[0].rma()->get(1, ranks.key(), 8, got, 1).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_EQ(got, sent);
}

TEST_F(IbvBounced, ASignalComesBehindItsBytes) {
  for (const Signal signal : {Signal{3, 7}, Signal{3, 1 << 20}}) {
    ranks.heard(1).signals.clear();
    std::ranges::fill(ranks.memory(1), std::byte{0});
    const auto attempt = [&] {
      return ranks[0].signal()->put_signal(1, ranks.key(), 8, sent, signal, signal.add);
    };
    ASSERT_EQ(ranks.insist(attempt).kind, Kind::posted);
    ASSERT_TRUE(ranks.until([&] { return !ranks.heard(1).signals.empty(); }));
    EXPECT_TRUE(arrived(8, sent));
    EXPECT_EQ(ranks.heard(1).signals[0].add, signal.add);
    EXPECT_TRUE(ranks.end_of(signal.add));
  }
}

TEST_F(IbvBounced, AMessageDoesNotOvertakeThem) {
  alignas(8) const std::byte header[8]{};
  ASSERT_EQ(put(sent, 1), Kind::posted);
  EXPECT_EQ(ranks[0].send(1, header, {}, 0).kind, Kind::retry);
  EXPECT_EQ(ranks[0].signal()->put_signal(1, ranks.key(), 0, {}, {1, 1}, 2).kind, Kind::retry);
  EXPECT_EQ(ranks[0].send(2, header, {}, 0).kind, Kind::done) << "to others it goes";
  ASSERT_EQ(ranks.insist([&] { return ranks[0].send(1, header, {}, 0); }).kind, Kind::done);
  ASSERT_TRUE(ranks.until([&] { return !ranks.heard(1).packets.empty(); }));
  EXPECT_TRUE(arrived(64, sent));
}

TEST_F(IbvBounced, ListsOfPiecesArriveThoughPartOfThemCouldBeRegistered) {
  ranks.network().faults.lockable += 120'000;  // enough for one of the two buffers
  core::NativeVector* const lists = ranks[0].vector();
  ASSERT_NE(lists, nullptr);
  const auto all = std::span(sent);
  const core::Bytes from[] = {all.subspan(0, 100'000), all.subspan(300'000, 100'000)};
  const core::RemotePiece to[] = {{16, 50'000}, {500'000, 150'000}};
  ASSERT_EQ(ranks.insist([&] { return lists->put_pieces(1, ranks.key(), to, from, 1); }).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(
      std::ranges::equal(all.subspan(50'000, 50'000), std::span(ranks.memory(1)).subspan(500'000, 50'000)));
  EXPECT_TRUE(std::ranges::equal(from[1], std::span(ranks.memory(1)).subspan(550'000, 100'000)));
  std::vector<std::byte> got(200'000);
  const core::MutableBytes into[] = {std::span(got).first(100'000), std::span(got).subspan(100'000)};
  ASSERT_EQ(ranks.insist([&] { return lists->get_pieces(1, ranks.key(), to, into, 2); }).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(2));
  EXPECT_TRUE(std::ranges::equal(into[0], from[0]));
  EXPECT_TRUE(std::ranges::equal(into[1], from[1]));
}

// Job::finish polls until the conduit says so: the destructor drops what it would have to read from the program's memory.
TEST_F(IbvBounced, AreNotSettledBeforeTheLastPieceIsPosted) {
  EXPECT_TRUE(ranks[0].settled());
  ASSERT_EQ(put(sent, 1), Kind::posted);
  EXPECT_FALSE(ranks[0].settled());
  ASSERT_TRUE(ranks.until([&] { return ranks[0].settled(); }));
  ranks.close(0);
  EXPECT_TRUE(arrived(64, sent));
}

TEST_F(IbvBounced, AreDroppedWithTheConduitThoughTheirMemoryIsGone) {
  {
    const std::vector<std::byte> from = sent;
    ASSERT_EQ(put(from, 1), Kind::posted);
  }
  ranks.close(0);
  EXPECT_FALSE(arrived(64, sent));
}

TEST_F(IbvBounced, ThoseOfALostPeerEndOnceAndOthersGoOn) {
  ranks.network().faults.silent = true;
  ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 64, sent, false, 1).kind, Kind::posted);
  ASSERT_EQ(ranks[0].rma()->put(2, ranks.key(2), 64, sent, false, 2).kind, Kind::posted);
  ranks[0].forget(1);
  ranks[0].poll(ranks.heard(0));
  ASSERT_EQ(ranks.heard(0).completed_ones.count(1), 1u);
  EXPECT_EQ(ranks.heard(0).completed_ones[1].code(), ErrorCode::peer_lost);
  ranks.network().resume();
  EXPECT_TRUE(ranks.end_of(2));
  EXPECT_TRUE(arrived(64, sent, 2));
}

TEST_F(IbvBounced, AFailedPieceEndsTheWhole) {
  ranks.network().faults.next = IBV_WC_REM_ACCESS_ERR;
  ASSERT_EQ(put(sent, 1), Kind::posted);
  EXPECT_EQ(ranks.end_of(1).code(), ErrorCode::peer_lost);
  EXPECT_THAT(ranks.said(), HasSubstr("remote access error"));
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
