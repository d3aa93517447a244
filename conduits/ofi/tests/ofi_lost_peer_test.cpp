// When operations on a peer end that is gone or that the network does not reach.

#include "conduits/ofi/tests/pair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>

namespace aqueduct::conduits::ofi {
namespace {

using Kind = core::Post::Kind;

OfiOptions giving_back(std::chrono::milliseconds after) {
  OfiOptions options;
  options.queue = 8;
  options.give_back = after;
  return options;
}

/// Three endpoints, of which the first two are connected.
class OfiLostPeer : public testing::Test {
 protected:
  // Longer than any test: operations end for another reason.
  explicit OfiLostPeer(std::chrono::milliseconds give_back = std::chrono::hours(24))
      : pair("tcp;ofi_rxm", giving_back(give_back), 3) {}

  void SetUp() override {
    if (HasFatalFailure()) return;
    if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
    const auto warm = [this] { return pair[0].rma()->put(1, pair.key(), 0, bytes, false, 999); };
    ASSERT_EQ(pair.insist(warm).kind, Kind::posted);
    ASSERT_TRUE(pair.end_of(999));
  }

  core::Post send() { return pair[0].send(1, header, {}, 0); }

  Pair pair;
  std::vector<std::byte> bytes = std::vector<std::byte>(64, std::byte{3});
  alignas(8) std::byte header[16]{};
};

TEST_F(OfiLostPeer, WhatWasPostedToAPeerThatIsGoneEndsInTheNextPolls) {
  // Nobody polls at rank 1, so the put cannot end by itself. The provider does not use the caller's memory: it ends at once.
  ASSERT_EQ(pair[0].rma()->put(1, pair.key(), 0, bytes, true, 7).kind, Kind::posted);
  pair[0].forget(1);
  // What has arrived is taken first, for a bounded number of polls.
  for (int polls = 0; polls < 300 && pair.heard(0).completed_ones.count(7) == 0; ++polls)
    pair[0].poll(pair.heard(0));
  ASSERT_EQ(pair.heard(0).completed_ones.count(7), 1u);
  EXPECT_EQ(pair.heard(0).completed_ones[7].code(), ErrorCode::peer_lost);
  EXPECT_EQ(pair[0].rma()->put(1, pair.key(), 0, bytes, false, 8).why, ErrorCode::peer_lost);
  EXPECT_EQ(send().why, ErrorCode::peer_lost);
}

TEST_F(OfiLostPeer, AGetFromAPeerThatIsGoneEndsWhenItsMemoryIsFree) {
  std::vector<std::byte> sent(5000);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7 + 1);
  std::ranges::copy(sent, pair.memory().begin());
  std::vector<std::byte> got(sent.size());
  ASSERT_EQ(pair[0].rma()->get(1, pair.key(), 0, got, 7).kind, Kind::posted);
  pair[0].forget(1);
  for (int polls = 0; polls < 100; ++polls) pair[0].poll(pair.heard(0));
  EXPECT_EQ(pair.heard(0).completed_ones.count(7), 0u) << "the provider may still write into its memory";
  // The peer is not gone after all, and answers: only then is the memory free.
  ASSERT_TRUE(pair.until([&] { return pair.heard(0).completed_ones.count(7) != 0; }));
  EXPECT_EQ(got, sent);
  EXPECT_TRUE(pair.log().empty()) << pair.log().front();
}

/// The same with a short time for which the provider may keep operations.
class OfiLongLostPeer : public OfiLostPeer {
 protected:
  OfiLongLostPeer() : OfiLostPeer(std::chrono::milliseconds(20)) {}

  /// Polls rank 0 only, until the condition holds, with a bound on the polls.
  bool alone_until(const std::function<bool()>& holds) {
    for (long polls = 0; polls < 1'000'000'000 && !holds(); ++polls) pair[0].poll(pair.heard(0));
    return holds();
  }
};

TEST_F(OfiLongLostPeer, AGetThatTheProviderNeverEndsHoldsTheCallerUpForABoundedTime) {
  std::vector<std::byte> got(5000);
  ASSERT_EQ(pair[0].rma()->get(1, pair.key(), 0, got, 7).kind, Kind::posted);
  pair[0].forget(1);
  ASSERT_TRUE(alone_until([&] { return pair.heard(0).completed_ones.count(7) != 0; }));
  EXPECT_EQ(pair.heard(0).completed_ones[7].code(), ErrorCode::peer_lost);
  ASSERT_FALSE(pair.log().empty());
  EXPECT_THAT(pair.log().back(), testing::HasSubstr("rank 1"));
  // A completion that arrives after all is not reported again.
  pair.heard(0).completed_ones.clear();
  for (int polls = 0; polls < 1000; ++polls) pair.poll();
  EXPECT_TRUE(pair.heard(0).completed_ones.empty());
}

TEST_F(OfiLongLostPeer, WhatTheProviderKeepsIsReplaced) {
  // A poll hint that SetUp's put has caused takes a place in the queue until it ends.
  ASSERT_TRUE(pair.until([&] { return pair[0].state_of(1).find(" 0 operations") != std::string::npos; }));
  int kept = 0;
  while (pair[0].rma()->put(1, pair.key(), 0, bytes, true, 20 + kept).kind == Kind::posted) ++kept;
  ASSERT_EQ(kept, 4) << "half of the queue";
  pair[0].forget(1);
  ASSERT_TRUE(alone_until([&] { return pair.heard(0).completed_ones.size() == 5u; }));  // these, and SetUp's
  const auto to_third = [&] { return pair[0].send(2, header, {}, 0).kind; };
  ASSERT_TRUE(alone_until([&] { return pair[0].state_of(1).find("room for 8 more") != std::string::npos; }));
  for (int sent = 0; sent < 20; ++sent) {
    ASSERT_TRUE(pair.until([&] { return to_third() == Kind::done; })) << sent;
  }
  ASSERT_TRUE(pair.until([&] { return pair.heard(2).packets.size() == 20u; }));
  // The provider completes the requests that it kept: those are not used again beside their replacements.
  EXPECT_NE(pair[0].state_of(1).find("room for 8 more"), std::string::npos) << pair[0].state_of(1);
}

TEST_F(OfiLostPeer, IsOneThatThePacketsToAreRefused) {
  Pair::faults().sends_answer = -FI_EINVAL;
  EXPECT_EQ(send().why, ErrorCode::peer_lost);
  // What has arrived is taken first.
  EXPECT_TRUE(pair.until([this] { return !pair.heard(0).losses.empty(); }));
  EXPECT_THAT(pair.heard(0).losses, testing::ElementsAre(1u));
  EXPECT_EQ(send().why, ErrorCode::peer_lost);
}

// All ranks are in Job::finish once it asks whether all is settled. One that leaves before another is no news to a user.
TEST_F(OfiLostPeer, IsNotWarnedOfWhenTheJobEnds) {
  EXPECT_TRUE(pair[0].settled());
  Pair::faults().sends_answer = -EPIPE;
  EXPECT_EQ(send().why, ErrorCode::peer_lost);
  Pair::faults() = {};
  ASSERT_TRUE(pair.until([&] { return !pair.heard(0).losses.empty(); })) << "operations on it must end";
  for (const std::string& line : pair.log())
    EXPECT_THAT(line, testing::Not(testing::HasSubstr("taken for lost")));
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
  // What has arrived is taken first.
  EXPECT_TRUE(pair.until([this] { return !pair.heard(0).losses.empty(); }));
  EXPECT_THAT(pair.heard(0).losses, testing::ElementsAre(1u));
}

TEST_F(OfiLostPeer, IsOneWhoseAddressTheProviderDoesNotTake) {
  auto nonsense = pair[1].address();
  std::ranges::fill(nonsense.end() - 16, nonsense.end(), std::byte{0xee});
  const std::vector<std::vector<std::byte>> addresses{pair[0].address(), nonsense, pair[2].address()};
  ASSERT_TRUE(pair[0].connect(addresses));
  EXPECT_EQ(send().why, ErrorCode::peer_lost);
  // What has arrived is taken first.
  EXPECT_TRUE(pair.until([this] { return !pair.heard(0).losses.empty(); }));
  EXPECT_THAT(pair.heard(0).losses, testing::ElementsAre(1u));
  ASSERT_FALSE(pair.log().empty());
  EXPECT_THAT(pair.log().back(), testing::HasSubstr("address"));
}

TEST(OfiLostPeerOfShm, IsOneWhoseMemoryCannotBeCopied) {
  for (const int error : {-ESRCH, -FI_EIO, FI_EIO}) {  // of a peer that is dying: EIO, of either sign
    Pair pair("shm");
    if (!pair.problem().empty()) GTEST_SKIP() << pair.problem();
    const std::vector<std::byte> bytes(64);
    Pair::faults().writes_end_with = error;
    const auto put = [&] { return pair[0].rma()->put(1, pair.key(), 0, bytes, false, 7); };
    ASSERT_EQ(pair.insist(put).kind, Kind::posted);
    EXPECT_EQ(pair.end_of(7).code(), ErrorCode::peer_lost) << error;
    EXPECT_TRUE(pair.until([&] { return !pair.heard(0).losses.empty(); }));
  }
}

TEST_F(OfiLostPeer, IsEveryoneWhenAnErrorDoesNotSayWhatItEnded) {
  Pair::faults().writes_end_with = -FI_EIO;
  Pair::faults().write_flags = FI_RMA | FI_WRITE;
  ASSERT_EQ(pair[0].rma()->put(1, pair.key(), 0, bytes, true, 7).kind, Kind::posted);
  for (int polls = 0; polls < 3; ++polls) pair[0].poll(pair.heard(0));
  EXPECT_EQ(pair.heard(0).completed_ones[7].code(), ErrorCode::peer_lost);
  EXPECT_THAT(pair.heard(0).losses, testing::UnorderedElementsAre(1u, 2u));
}

TEST_F(OfiLostPeer, IsNobodyWhenAnErrorIsOfWhatArrives) {
  Pair::faults().writes_end_with = -FI_EIO;
  Pair::faults().write_flags = FI_MSG | FI_RECV;
  ASSERT_EQ(pair[0].rma()->put(1, pair.key(), 0, bytes, true, 7).kind, Kind::posted);
  for (int polls = 0; polls < 3; ++polls) pair[0].poll(pair.heard(0));
  EXPECT_TRUE(pair.heard(0).losses.empty());
  EXPECT_EQ(pair.log().size(), 1u);
  pair[0].forget(1);  // the put, which went nowhere
}

TEST_F(OfiLostPeer, IsEveryoneWhenTheCompletionQueueBreaks) {
  ASSERT_EQ(pair[0].rma()->put(1, pair.key(), 0, bytes, true, 7).kind, Kind::posted);
  Pair::faults().queue = -FI_EINVAL;
  pair[0].poll(pair.heard(0));
  pair[0].poll(pair.heard(0));
  EXPECT_THAT(pair.heard(0).losses, testing::UnorderedElementsAre(1u, 2u));
  EXPECT_EQ(pair.heard(0).completed_ones[7].code(), ErrorCode::peer_lost);
  EXPECT_EQ(send().kind, Kind::failed);
  EXPECT_EQ(pair.log().size(), 1u) << "said once";
}

}  // namespace
}  // namespace aqueduct::conduits::ofi
