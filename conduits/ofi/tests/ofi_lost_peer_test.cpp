// What ends, and when, with a peer that is gone or that the network does not reach.

#include "conduits/ofi/tests/pair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace aqueduct::conduits::ofi {
namespace {

using Kind = core::Post::Kind;

/// Two endpoints that are connected.
class OfiLostPeer : public testing::Test {
 protected:
  void SetUp() override {
    if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
    const auto warm = [this] { return pair[0].put(1, pair.key(), 0, bytes, false, 999); };
    ASSERT_EQ(pair.insist(warm).kind, Kind::posted);
    ASSERT_TRUE(pair.end_of(999));
  }

  core::Post send() { return pair[0].send(1, header, {}, 0); }

  Pair pair{"tcp;ofi_rxm"};
  std::vector<std::byte> bytes = std::vector<std::byte>(64, std::byte{3});
  alignas(8) std::byte header[16]{};
};

TEST_F(OfiLostPeer, WhatWasPostedToAPeerThatIsGoneEndsInTheNextPoll) {
  // Nobody polls at rank 1, so it cannot end by itself. The caller's memory is free: it ends at once.
  ASSERT_EQ(pair[0].put(1, pair.key(), 0, bytes, true, 7).kind, Kind::posted);
  pair[0].forget(1);
  pair[0].poll(pair.heard(0));
  ASSERT_EQ(pair.heard(0).completed_ones.count(7), 1u);
  EXPECT_EQ(pair.heard(0).completed_ones[7].code(), ErrorCode::peer_lost);
  EXPECT_EQ(pair[0].put(1, pair.key(), 0, bytes, false, 8).why, ErrorCode::peer_lost);
  EXPECT_EQ(send().why, ErrorCode::peer_lost);
}

TEST_F(OfiLostPeer, AGetFromAPeerThatIsGoneEndsWhenItsMemoryIsFree) {
  std::vector<std::byte> sent(5000);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7 + 1);
  std::ranges::copy(sent, pair.memory().begin());
  std::vector<std::byte> got(sent.size());
  ASSERT_EQ(pair[0].get(1, pair.key(), 0, got, 7).kind, Kind::posted);
  pair[0].forget(1);
  for (int polls = 0; polls < 100; ++polls) pair[0].poll(pair.heard(0));
  EXPECT_EQ(pair.heard(0).completed_ones.count(7), 0u) << "the provider may still write into its memory";
  // It is not gone after all, and answers: only then is the memory free.
  ASSERT_TRUE(pair.until([&] { return pair.heard(0).completed_ones.count(7) != 0; }));
  EXPECT_EQ(got, sent);
  EXPECT_TRUE(pair.log().empty()) << pair.log().front();
}

TEST_F(OfiLostPeer, AGetThatTheProviderNeverEndsHoldsTheCallerUpForABoundedTime) {
  std::vector<std::byte> got(5000);
  ASSERT_EQ(pair[0].get(1, pair.key(), 0, got, 7).kind, Kind::posted);
  const auto since = std::chrono::steady_clock::now();
  pair[0].forget(1);
  while (pair.heard(0).completed_ones.count(7) == 0) {
    ASSERT_LT(std::chrono::steady_clock::now() - since, std::chrono::seconds(10));
    pair[0].poll(pair.heard(0));
  }
  EXPECT_EQ(pair.heard(0).completed_ones[7].code(), ErrorCode::peer_lost);
  ASSERT_FALSE(pair.log().empty());
  EXPECT_THAT(pair.log().back(), testing::HasSubstr("rank 1"));
  // What arrives after all is told to nobody again.
  pair.heard(0).completed_ones.clear();
  for (int polls = 0; polls < 1000; ++polls) pair.poll();
  EXPECT_TRUE(pair.heard(0).completed_ones.empty());
}

TEST_F(OfiLostPeer, IsOneThatThePacketsToAreRefused) {
  Pair::faults().sends_answer = -FI_EINVAL;
  EXPECT_EQ(send().why, ErrorCode::peer_lost);
  pair.poll();
  EXPECT_THAT(pair.heard(0).losses, testing::ElementsAre(1u));
  EXPECT_EQ(send().why, ErrorCode::peer_lost);
}

TEST_F(OfiLostPeer, IsNoneThatThereIsNoMemoryForNow) {
  Pair::faults().sends_answer = -FI_ENOMEM;
  EXPECT_EQ(send().kind, Kind::retry);
  pair.poll();
  EXPECT_TRUE(pair.heard(0).losses.empty());
  Pair::faults() = {};
  EXPECT_EQ(pair.insist([this] { return send(); }).kind, Kind::done);
  EXPECT_TRUE(pair.until([this] { return !pair.heard(1).packets.empty(); }));
}

TEST_F(OfiLostPeer, IsOneThatAPacketDoesNotReach) {
  Pair::faults().sends_end_with = -FI_EINVAL;
  EXPECT_EQ(send().kind, Kind::done);
  pair.poll();
  EXPECT_THAT(pair.heard(0).losses, testing::ElementsAre(1u));
}

TEST_F(OfiLostPeer, IsOneWhoseAddressTheProviderDoesNotTake) {
  auto nonsense = pair[1].address();
  std::ranges::fill(nonsense.end() - 16, nonsense.end(), std::byte{0xee});
  const std::vector<std::vector<std::byte>> addresses{pair[0].address(), nonsense};
  ASSERT_TRUE(pair[0].connect(addresses));
  EXPECT_EQ(send().why, ErrorCode::peer_lost);
  pair.poll();
  EXPECT_THAT(pair.heard(0).losses, testing::ElementsAre(1u));
  ASSERT_FALSE(pair.log().empty());
  EXPECT_THAT(pair.log().back(), testing::HasSubstr("address"));
}

TEST(OfiLostPeerOfShm, IsOneWhoseMemoryCannotBeCopied) {
  Pair pair("shm");
  if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
  const std::vector<std::byte> bytes(64);
  Pair::faults().writes_end_with = -ESRCH;
  const auto put = [&] { return pair[0].put(1, pair.key(), 0, bytes, false, 7); };
  ASSERT_EQ(pair.insist(put).kind, Kind::posted);
  EXPECT_EQ(pair.end_of(7).code(), ErrorCode::peer_lost);
  EXPECT_TRUE(pair.until([&] { return !pair.heard(0).losses.empty(); }));
}

TEST_F(OfiLostPeer, IsEveryoneWhenTheCompletionQueueBreaks) {
  ASSERT_EQ(pair[0].put(1, pair.key(), 0, bytes, true, 7).kind, Kind::posted);
  Pair::faults().queue = -FI_EINVAL;
  pair[0].poll(pair.heard(0));
  pair[0].poll(pair.heard(0));
  EXPECT_THAT(pair.heard(0).losses, testing::ElementsAre(1u));
  EXPECT_EQ(pair.heard(0).completed_ones[7].code(), ErrorCode::peer_lost);
  EXPECT_EQ(send().kind, Kind::failed);
  EXPECT_EQ(pair.log().size(), 1u) << "said once";
}

}  // namespace
}  // namespace aqueduct::conduits::ofi
