// How operations end when requests fail, a peer is lost, or the device fails.

#include "conduits/ibv/errors.hpp"
#include "conduits/ibv/tests/ranks.hpp"
#include "conduits/loop/tests/allocation_count.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace aqueduct::conduits::ibv {
namespace {

using Kind = core::Post::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

class IbvLostPeer : public testing::Test {
 protected:
  void SetUp() override {
    ranks.meet(1);
    ranks.meet(2);
  }

  core::Post put(Rank peer, core::Token token) {
    return ranks[0].rma()->put(peer, ranks.key(peer), 64, bytes, false, token);
  }
  core::Post send(Rank peer) { return ranks[0].send(peer, header, {}, 0); }
  /// Operations with other peers still work.
  void others_go_on() {
    ASSERT_EQ(ranks.insist([&] { return put(2, 77); }).kind, Kind::posted);
    EXPECT_TRUE(ranks.end_of(77));
    EXPECT_EQ(send(2).kind, Kind::done);
  }

  Ranks ranks{{}, 3};
  std::vector<std::byte> bytes = bytes_of(16);
  alignas(8) std::byte header[16]{};
};

TEST_F(IbvLostPeer, ARemoteAccessErrorNamesWhatAndWhere) {
  auto key = ranks.exported(1);
  key[offsetof(Key, key)] ^= std::byte{0x55};
  const auto wrong = ranks[0].rma()->import_key(1, key);
  ASSERT_TRUE(wrong);
  ASSERT_EQ(ranks[0].rma()->put(1, *wrong, 640, bytes, false, 5).kind, Kind::posted);
  EXPECT_EQ(ranks.end_of(5).code(), ErrorCode::network_failed);
  for (const char* part :
       {"a put of 16 bytes", "rank 1", "segment 0", "offset 640", "key 0x", "remote access error"}) {
    EXPECT_THAT(ranks.said(), HasSubstr(part));
  }
  others_go_on();
}

TEST_F(IbvLostPeer, IsOneThatDoesNotAnswer) {
  ranks.close(1);
  ASSERT_EQ(put(1, 1).kind, Kind::posted);
  EXPECT_EQ(ranks.end_of(1), Status(ErrorCode::peer_lost, 1));
  ranks.poll();
  EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u));
  others_go_on();
}

TEST_F(IbvLostPeer, IsFoundByAskingThoseWhoSayNothing) {
  ranks.close(1);
  ASSERT_TRUE(ranks.until([&] {
    ranks[0].check_peers(ranks.heard(0));
    return !ranks.heard(0).losses.empty();
  }));
  EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u));
}

TEST_F(IbvLostPeer, IsFoundBehindMessagesThatDoNotTellTheirEnd) {
  ASSERT_EQ(send(1).kind, Kind::done);
  ASSERT_TRUE(ranks.until([&] { return !ranks.heard(1).packets.empty(); }));
  ranks.close(1);
  ASSERT_TRUE(ranks.until([&] {
    ranks[0].check_peers(ranks.heard(0));
    return !ranks.heard(0).losses.empty();
  }));
  EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u));
  others_go_on();
}

TEST_F(IbvLostPeer, WhatWasPostedToAForgottenPeerEndsInTheNextPoll) {
  ranks.network().faults.silent = true;
  std::vector<std::byte> got(5000);
  ASSERT_EQ(put(1, 1).kind, Kind::posted);
  ASSERT_EQ(put(1, 2).kind, Kind::posted);  // in a burst
  ASSERT_EQ(ranks[0].rma()->get(1, ranks.key(), 0, got, 3).kind, Kind::posted);
  ASSERT_EQ(put(1, 4).kind, Kind::posted);
  ranks[0].forget(1);
  ranks[0].poll(ranks.heard(0));
  for (const core::Token token : {1, 2, 3, 4}) {
    ASSERT_EQ(ranks.heard(0).completed_ones.count(token), 1u) << token;
    EXPECT_EQ(ranks.heard(0).completed_ones[token].code(), ErrorCode::peer_lost);
  }
  EXPECT_TRUE(ranks.heard(0).losses.empty()) << "the launcher knows";
  ranks.network().resume();
  others_go_on();
}

TEST_F(IbvLostPeer, IsOneTheDeviceTakesNoWorkFor) {
  ranks.network().faults.post_send = EINVAL;
  EXPECT_EQ(put(1, 1).why, ErrorCode::peer_lost);
  ranks.network().faults.post_send = 0;
  ranks.poll();
  EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u));
  EXPECT_THAT(ranks.said(), HasSubstr("does not take work for rank 1"));
  others_go_on();
}

TEST_F(IbvLostPeer, HeldPutsThatTheDeviceDoesNotTakeEndToo) {
  ASSERT_EQ(put(1, 1).kind, Kind::posted);
  ASSERT_EQ(put(1, 2).kind, Kind::posted);
  ranks.network().faults.post_send = EIO;
  ranks[0].poll(ranks.heard(0));
  ranks.network().faults.post_send = 0;
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_EQ(ranks.end_of(2).code(), ErrorCode::peer_lost);
  others_go_on();
}

TEST_F(IbvLostPeer, IsNoneThatThereIsNoRoomForNow) {
  ranks.network().faults.post_send = ENOMEM;
  EXPECT_EQ(put(1, 1).kind, Kind::retry);
  EXPECT_EQ(send(1).kind, Kind::retry);
  ranks.network().faults.post_send = 0;
  EXPECT_EQ(put(1, 1).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(ranks.log().empty()) << ranks.said();
}

TEST(IbvFailedRequest, EndsItsOperationAndWhatIsBehindItWhateverTheError) {
  const auto bytes = bytes_of(16);
  alignas(8) const std::byte header[16]{};
  for (int status = IBV_WC_SUCCESS + 1; status <= IBV_WC_GENERAL_ERR; ++status) {
    Ranks pair;
    pair.meet();
    const auto failing = static_cast<ibv_wc_status>(status);
    pair.network().faults.silent = true;
    ASSERT_EQ(pair[0].rma()->put(1, pair.key(), 0, bytes, false, 1).kind, Kind::posted);
    ASSERT_EQ(pair[0].rma()->put(1, pair.key(), 0, bytes, true, 2).kind, Kind::posted);
    ASSERT_EQ(pair[0].send(1, header, {}, 0).kind, Kind::done);
    pair.network().faults.next = failing;
    pair.network().resume();
    EXPECT_EQ(pair.end_of(1), Status(code_of(failing), 1)) << status;
    EXPECT_EQ(pair.end_of(2).code(), ErrorCode::peer_lost) << status;
    pair.poll();
    EXPECT_THAT(pair.heard(0).losses, ElementsAre(1u)) << status;
    EXPECT_EQ(pair[0].rma()->put(1, pair.key(), 0, bytes, false, 3).why, ErrorCode::peer_lost);
    EXPECT_EQ(pair[0].send(1, header, {}, 0).why, ErrorCode::peer_lost);
  }
}

TEST(IbvNoPair, IsALostPeerWithAReason) {
  Ranks ranks;
  ranks.network().faults.no_pairs = true;
  alignas(8) const std::byte header[8]{};
  EXPECT_EQ(ranks[0].send(1, header, {}, 0).why, ErrorCode::peer_lost);
  ranks[0].poll(ranks.heard(0));
  EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u));
  EXPECT_THAT(ranks.said(), HasSubstr("no queue pair for rank 1"));
}

TEST_F(IbvLostPeer, AllAreIfTheDeviceFails) {
  ranks.network().faults.silent = true;
  ASSERT_EQ(put(1, 1).kind, Kind::posted);
  ranks.network().event(IBV_EVENT_DEVICE_FATAL);
  ranks[0].check_peers(ranks.heard(0));
  ranks[0].poll(ranks.heard(0));
  EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u, 2u));
  EXPECT_EQ(ranks.heard(0).completed_ones[1].code(), ErrorCode::peer_lost);
  EXPECT_THAT(ranks.said(), HasSubstr("fatal error of the device"));
  EXPECT_EQ(put(2, 9).why, ErrorCode::peer_lost);
}

TEST_F(IbvLostPeer, APortThatGoesDownIsSaidAndLosesNobodyByItself) {
  ranks.network().event(IBV_EVENT_PORT_ERR);
  ranks[0].check_peers(ranks.heard(0));
  EXPECT_THAT(ranks.said(), HasSubstr("link of mock0:1 is down"));
  ranks.poll();
  EXPECT_TRUE(ranks.heard(0).losses.empty());
  others_go_on();
}

/// Listens without memory.
struct DeafInbox final : core::Inbox {
  void packet(Rank, core::Bytes) noexcept override {}
  void completed(core::Token, Status) noexcept override { ++ends; }
  void signalled(Rank, Signal) noexcept override {}
  void lost(Rank) noexcept override {}
  int ends = 0;
};

TEST_F(IbvLostPeer, NeedsNoMemory) {
  ranks.network().faults.silent = true;
  ASSERT_EQ(put(1, 1).kind, Kind::posted);
  ranks[0].forget(1);
  ranks[0].forget(1);
  DeafInbox deaf;
  {
    const loop::NoMemory none;
    ranks[0].poll(deaf);
    ranks[0].forget(1);
    ranks[0].poll(deaf);
  }
  EXPECT_EQ(deaf.ends, 1);
  ranks.network().resume();
  others_go_on();
}

TEST(IbvConnections, WithoutMemoryLoseTheirPeerAlone) {
  for (const std::uint64_t good : {0, 1}) {  // the connection, and the list of its requests
    Ranks ranks({}, 3);
    const auto bytes = bytes_of(8);
    {
      const loop::NoMemory none(1, good);
      EXPECT_EQ(ranks[0].rma()->put(1, ranks.key(1), 0, bytes, false, 1).kind, Kind::failed);
    }
    ranks.poll();
    EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u));
    EXPECT_THAT(ranks.said(), HasSubstr("no memory for a connection with rank 1"));
    ranks.meet(2);
  }
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
