// Striped transfers: which port carries what, and what happens if one of them fails.

#include "conduits/ibv/tests/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

#include <poll.h>

namespace aqueduct::conduits::ibv {
namespace {

using Kind = core::Post::Kind;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t kLarge = 300'001;

void devices(mock::Network& network, std::size_t count) {
  network.devices.resize(count);
  for (std::size_t i = 1; i < count; ++i) network.devices[i].name = "mock" + std::to_string(i);
}

/// Ranks with two ports each, and a transfer that is long enough to be striped.
class IbvRails : public testing::Test {
 protected:
  void SetUp() override {
    ranks.meet();
    start_counting();
  }

  void start_counting() {
    for (mock::Device& device : ranks.network().devices) device.requests = 0;
  }
  mock::Device& device(std::size_t index) { return ranks.network().devices[index]; }
  core::Post put(core::Token token, std::size_t offset = 0) {
    return ranks[0].rma()->put(1, ranks.key(), offset, sent, false, token);
  }
  core::Post get(core::Token token) { return ranks[0].rma()->get(1, ranks.key(), 0, got, token); }
  bool arrived(std::size_t offset = 0) {
    return std::equal(sent.begin(), sent.end(),
                      ranks.memory(1).begin() + static_cast<std::ptrdiff_t>(offset));
  }

  Ranks ranks{{}, 2, [](mock::Network& network) { devices(network, 2); }, {2, 2}};
  std::vector<std::byte> sent = bytes_of(kLarge);
  std::vector<std::byte> got = std::vector<std::byte>(kLarge);
};

TEST_F(IbvRails, CarryAShareEachOfALargePutAndGet) {
  ASSERT_EQ(put(1, 13).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(arrived(13));
  EXPECT_EQ(device(0).requests, 1);
  EXPECT_EQ(device(1).requests, 1);
  EXPECT_GE(device(1).bytes, kLarge / 2 - 4096);
  std::ranges::copy(sent, ranks.memory(1).begin());
  ASSERT_EQ(get(2).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(2));
  EXPECT_EQ(got, sent);
  EXPECT_EQ(device(0).requests, 2);
  EXPECT_EQ(device(1).requests, 2);
  EXPECT_EQ(ranks.network().counts.breaches, 0);
  EXPECT_TRUE(ranks.log().empty()) << ranks.said();
}

TEST_F(IbvRails, CarryOnlyWhatHasAShareForEach) {
  const std::size_t least = ranks[0].properties().max_ordered + 1;
  core::Token token = 1;
  for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, least - 1, least, least + 1, 3 * least}) {
    for (const bool in_segment : {false, true}) {
      start_counting();
      sent = bytes_of(size, static_cast<unsigned>(token));
      core::Bytes from = sent;
      if (in_segment) {
        std::ranges::copy(sent, ranks.memory(0).begin() + 7);
        from = std::span(ranks.memory(0)).subspan(7, size);
      }
      ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 3, from, false, token).kind, Kind::posted);
      EXPECT_TRUE(ranks.end_of(token++));
      EXPECT_TRUE(arrived(3)) << size;
      EXPECT_EQ(device(0).requests, 1) << size;
      EXPECT_EQ(device(1).requests, size < least ? 0 : 1) << size;
    }
  }
}

TEST_F(IbvRails, LeaveMessagesSignalsAndListsToTheFirst) {
  alignas(8) const std::byte header[8]{};
  ASSERT_EQ(ranks[0].send(1, header, {}, 0).kind, Kind::done);
  ASSERT_EQ(ranks[0].signal()->put_signal(1, ranks.key(), 0, sent, {1, 1}, 1).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  const core::RemotePiece there{0, kLarge};
  const core::Bytes here(sent);
  ASSERT_EQ(ranks[0].vector()->put_pieces(1, ranks.key(), std::span(&there, 1), std::span(&here, 1), 2).kind,
            Kind::posted);
  EXPECT_TRUE(ranks.end_of(2));
  EXPECT_EQ(device(1).requests, 0);
}

// An inject's source is free at return, but shares would read it later.
TEST(IbvRailsOfSmallShares, CarryNoPutWhoseBytesAreCopied) {
  IbvOptions options;
  options.packet = 16384;
  options.rail_bytes = 4096;
  Ranks ranks(options, 2, [](mock::Network& network) { devices(network, 2); }, {2, 2});
  ranks.meet();
  const auto sent = bytes_of(10'000);
  auto from = sent;
  ASSERT_GT(from.size(), ranks[0].properties().max_ordered);
  ASSERT_LE(from.size(), ranks[0].properties().max_inject);
  ranks.network().faults.silent = true;
  ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, from, true, 1).kind, Kind::posted);
  std::ranges::fill(from, std::byte{0});
  ranks.network().resume();
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), ranks.memory(1).begin()));
}

// A striped transfer may wait for several places.
TEST_F(IbvRails, CarryMoreThanTheyHaveRoomForOneAfterTheOther) {
  constexpr core::Token kPuts = 100;
  for (core::Token token = 1; token <= kPuts; ++token) {
    const core::Post post = ranks.insist([&] { return put(token, token); });
    ASSERT_EQ(post.kind, Kind::posted);
  }
  for (core::Token token = 1; token <= kPuts; ++token) EXPECT_TRUE(ranks.end_of(token));
  EXPECT_TRUE(arrived(kPuts));
  EXPECT_EQ(ranks.network().counts.overruns, 0);
  EXPECT_EQ(ranks.network().counts.breaches, 0);
}

TEST_F(IbvRails, TryAShareAgainThatWasRefused) {
  for (const std::size_t busy : {0u, 1u}) {
    start_counting();
    device(busy).post_send = ENOMEM;
    std::ranges::fill(ranks.memory(1), std::byte{0});
    ASSERT_EQ(put(1 + busy).kind, Kind::posted);
    for (int i = 0; i < 10; ++i) ranks.poll();
    EXPECT_EQ(ranks.heard(0).completed_ones.count(1 + busy), 0u) << "a share of it is still here";
    EXPECT_LE(ranks[0].waitable()->within(), std::chrono::milliseconds(1)) << "or it would be asleep";
    device(busy).post_send = 0;
    EXPECT_TRUE(ranks.end_of(1 + busy));
    EXPECT_TRUE(arrived());
    EXPECT_EQ(device(0).requests, 1) << "none goes twice";
    EXPECT_EQ(device(1).requests, 1) << "none goes twice";
  }
  EXPECT_TRUE(ranks.log().empty()) << ranks.said();
}

TEST_F(IbvRails, EndATransferOnceWhenThePeerIsLost) {
  const std::size_t before = ranks.heard(0).completions;
  device(1).silent = true;  // one share ends, the other does not
  ASSERT_EQ(put(1).kind, Kind::posted);
  ASSERT_EQ(get(2).kind, Kind::posted);
  device(0).silent = true;
  ASSERT_EQ(put(3).kind, Kind::posted);
  device(1).post_send = ENOMEM;
  ASSERT_EQ(put(4).kind, Kind::posted);  // one of its shares is not posted yet
  for (int i = 0; i < 10; ++i) ranks[0].poll(ranks.heard(0));
  EXPECT_TRUE(ranks.heard(0).completed_ones.empty());
  ranks[0].forget(1);
  ranks[0].poll(ranks.heard(0));
  for (const core::Token token : {1, 2, 3, 4}) {
    EXPECT_EQ(ranks.end_of(token), Status(ErrorCode::peer_lost, 1)) << token;
  }
  EXPECT_EQ(ranks.heard(0).completions, before + 4);
  ranks.network().resume();
  for (int i = 0; i < 10; ++i) ranks.poll();
  EXPECT_EQ(ranks.heard(0).completions, before + 4);
  EXPECT_EQ(put(5).why, ErrorCode::peer_lost);
}

TEST_F(IbvRails, FindAPeerThatDoesNotAnswerOnAny) {
  ranks.close(1);
  ASSERT_EQ(put(1).kind, Kind::posted);
  EXPECT_EQ(ranks.end_of(1), Status(ErrorCode::peer_lost, 1));
  ranks.poll();
  EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u));
}

TEST_F(IbvRails, ThatFailGiveTheirSharesToTheFirst) {
  device(1).unplugged = true;
  for (core::Token token = 1; token <= 3; ++token) {
    std::ranges::fill(ranks.memory(1), std::byte{0});
    ASSERT_EQ(put(token).kind, Kind::posted);
    EXPECT_TRUE(ranks.end_of(token));
    EXPECT_TRUE(arrived());
  }
  EXPECT_EQ(device(1).requests, 1) << "it is not tried again";
  ASSERT_EQ(get(4).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(4));
  EXPECT_EQ(got, sent);
  EXPECT_TRUE(ranks.heard(0).losses.empty());
  EXPECT_EQ(ranks.log().size(), 1u) << ranks.said();
  EXPECT_THAT(ranks.said(), HasSubstr("mock1:1 does not carry large transfers with rank 1"));
}

TEST_F(IbvRails, ThatTakeNoWorkGiveTheirSharesToTheFirst) {
  device(1).post_send = EIO;
  ASSERT_EQ(put(1).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(arrived());
  EXPECT_EQ(device(0).requests, 2);
  EXPECT_THAT(ranks.said(), HasSubstr("mock1:1 does not carry"));
}

TEST_F(IbvRails, AWrongKeyFailsTheTransferOnce) {
  const std::size_t before = ranks.heard(0).completions;
  auto key = ranks.exported(1);
  for (const std::size_t at : {offsetof(Key, key), sizeof(Key)}) key[at] ^= std::byte{0x55};
  const auto wrong = ranks[0].rma()->import_key(1, key);
  ASSERT_TRUE(wrong);
  ASSERT_EQ(ranks[0].rma()->put(1, *wrong, 0, sent, false, 1).kind, Kind::posted);
  EXPECT_FALSE(ranks.end_of(1));
  for (int i = 0; i < 10; ++i) ranks.poll();
  EXPECT_EQ(ranks.heard(0).completions, before + 1);
  EXPECT_THAT(ranks.heard(0).losses, ElementsAre(1u));
  EXPECT_THAT(ranks.said(), HasSubstr("remote access error"));
}

// The share on the second port ends last, so only that port's completion channel has an event.
TEST_F(IbvRails, WakeASleeper) {
  device(1).silent = true;
  ASSERT_EQ(put(1).kind, Kind::posted);
  while (ranks[0].poll(ranks.heard(0)) != 0) continue;
  ranks[0].waitable()->arm();
  ranks[0].poll(ranks.heard(0));
  pollfd readable{ranks[0].waitable()->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&readable, 1, 0), 0);
  ranks.network().resume();
  EXPECT_EQ(::poll(&readable, 1, 0), 1);
  const auto since = std::chrono::steady_clock::now();
  ranks[0].waitable()->sleep(std::chrono::seconds(20));
  EXPECT_LT(std::chrono::steady_clock::now() - since, std::chrono::seconds(5));
  ranks[0].waitable()->disarm();
  EXPECT_EQ(ranks[0].poll(ranks.heard(0)), 1);
  EXPECT_EQ(::poll(&readable, 1, 0), 0);
}

TEST_F(IbvRails, FinishTheirSharesBeforeTheEnd) {
  ASSERT_EQ(put(1).kind, Kind::posted);
  ranks.close(0);
  EXPECT_TRUE(arrived());
}

TEST_F(IbvRails, AreNotSettledWhileAShareWaits) {
  device(1).post_send = ENOMEM;
  ASSERT_EQ(put(1).kind, Kind::posted);
  ranks.poll();
  EXPECT_FALSE(ranks[0].settled());
  device(1).post_send = 0;
  ASSERT_TRUE(ranks.until([&] { return ranks[0].settled(); }));
  ranks.close(0);
  EXPECT_TRUE(arrived());
}

// The other share is under way, so the destructor looks at the rails; the program's memory may be gone.
TEST_F(IbvRails, PostNoShareWhenTheConduitEnds) {
  for (mock::Device& one : ranks.network().devices) one.post_send = ENOMEM;
  ASSERT_EQ(put(1).kind, Kind::posted);
  device(1).post_send = 0;
  ranks[0].poll(ranks.heard(0));
  ASSERT_EQ(device(1).requests, 1);
  ASSERT_FALSE(ranks[0].settled());
  device(0).post_send = 0;
  ranks.close(0);
  EXPECT_EQ(device(0).requests, 0);
  EXPECT_FALSE(arrived());
}

/// Begins another operation when one ends, as handlers do.
struct Follower final : core::Inbox {
  explicit Follower(support::Heard& heard) : heard_(heard) {}
  std::function<void()> next;

  void packet(Rank from, core::Bytes bytes) noexcept override { heard_.packet(from, bytes); }
  void completed(core::Token token, Status status) noexcept override {
    heard_.completed(token, status);
    if (next != nullptr) std::exchange(next, nullptr)();
  }
  void signalled(Rank from, Signal signal) noexcept override { heard_.signalled(from, signal); }
  void lost(Rank peer) noexcept override { heard_.lost(peer); }

 private:
  support::Heard& heard_;
};

// The transfer with the lost peer has its first share left, on a rail. The next transfer gets the same entry, and has two shares.
TEST(IbvRailsOfAPair, LeaveATransferAloneThatBeginsWhenALostPeersEnds) {
  Ranks ranks({}, 3, [](mock::Network& network) { devices(network, 3); }, {3, 3, 3});
  ranks.meet(1);
  ranks.meet(2);
  const auto sent = bytes_of(2 * IbvOptions{}.rail_bytes);
  const auto put = [&](Rank to, core::Token token) {
    return ranks[0].rma()->put(to, ranks.key(to), 0, sent, false, token).kind;
  };
  ASSERT_EQ(put(1, 1), Kind::posted);  // by the first two ports
  ASSERT_TRUE(ranks.end_of(1));
  ranks.network().devices[2].silent = true;
  ASSERT_EQ(put(1, 2), Kind::posted);  // by the third and the first
  ranks[0].poll(ranks.heard(0));
  Follower follower(ranks.heard(0));
  follower.next = [&] { EXPECT_EQ(put(2, 3), Kind::posted); };
  ranks[0].forget(1);
  ranks[0].poll(follower);
  ASSERT_EQ(ranks.heard(0).completed_ones.count(2), 1u);
  EXPECT_EQ(ranks.heard(0).completed_ones.at(2).code(), ErrorCode::peer_lost);
  EXPECT_EQ(ranks.heard(0).completed_ones.count(3), 0u) << "its second share goes by the third port";
  ranks.network().resume();
  EXPECT_TRUE(ranks.end_of(3));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), ranks.memory(2).begin()));
}

TEST(IbvRailsOfAPair, AreAsManyAsBothHave) {
  for (const auto& ports : {std::vector<std::size_t>{3, 2}, {2, 3}, {3, 1}, {1, 3}, {3, 3}}) {
    Ranks ranks(
        {}, 2, [](mock::Network& network) { devices(network, 3); }, ports);
    ranks.meet();
    for (mock::Device& device : ranks.network().devices) device.requests = 0;
    const auto sent = bytes_of(kLarge);
    ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 1, sent, false, 1).kind, Kind::posted);
    EXPECT_TRUE(ranks.end_of(1));
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), ranks.memory(1).begin() + 1));
    const std::size_t both = std::min(ports[0], ports[1]);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(ranks.network().devices[i].requests, i < both ? 1 : 0) << i << " of " << both;
    }
    EXPECT_TRUE(ranks.log().empty()) << ranks.said();
  }
}

TEST(IbvRailsOfAPair, TakeTurnsWhereThereAreFewerShares) {
  Ranks ranks({}, 2, [](mock::Network& network) { devices(network, 4); }, {4, 4});
  ranks.meet();
  for (mock::Device& device : ranks.network().devices) device.requests = 0;
  const auto sent = bytes_of(2 * IbvOptions{}.rail_bytes);
  for (core::Token token = 1; token <= 4; ++token) {
    ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, sent, false, token).kind, Kind::posted);
    EXPECT_TRUE(ranks.end_of(token));
  }
  for (const mock::Device& device : ranks.network().devices) EXPECT_EQ(device.requests, 2) << device.name;
}

TEST(IbvRailsOfAPair, AreMadeThoughDatagramsAreLostAndBothBegin) {
  for (int dropped = 0; dropped < 6; ++dropped) {
    Ranks ranks({}, 2, [](mock::Network& network) { devices(network, 2); }, {2, 2});
    ranks.network().faults.drop_datagrams = dropped;
    alignas(8) const std::byte header[8]{};
    ASSERT_EQ(ranks[1].send(0, header, {}, 0).kind, Kind::retry);
    ranks.meet();
    ranks.network().devices[1].requests = 0;
    const auto sent = bytes_of(kLarge);
    ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, sent, false, 1).kind, Kind::posted);
    EXPECT_TRUE(ranks.end_of(1));
    EXPECT_EQ(ranks.network().devices[1].requests, 1) << dropped;
  }
}

TEST(IbvRailsOfAPair, ThatCannotBeConnectedLeaveAllToTheFirstPort) {
  Ranks ranks({}, 2, [](mock::Network& network) { devices(network, 2); }, {2, 2});
  ranks.network().devices[1].connects = false;
  ranks.meet();
  EXPECT_THAT(ranks.said(), HasSubstr("mock1:1 does not connect a queue pair with rank"));
  ranks.network().devices[1].requests = 0;
  const auto sent = bytes_of(kLarge);
  ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, sent, false, 1).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), ranks.memory(1).begin()));
  EXPECT_EQ(ranks.network().devices[1].requests, 0);
  EXPECT_TRUE(ranks.heard(0).losses.empty());
}

TEST(IbvRailsOfAPair, WithoutMemoryForASegmentLeaveItToTheFirstPort) {
  Ranks ranks({}, 2, [](mock::Network& network) { devices(network, 2); }, {2, 2});
  ranks.meet();
  std::vector<std::byte> large(8 << 20);
  const std::size_t before = ranks.network().registered();
  ranks.network().faults.lockable = before + (12 << 20);
  const auto key = ranks[1].rma()->register_segment(1, large);
  ASSERT_TRUE(key);
  EXPECT_THAT(ranks.said(), HasSubstr("ulimit -l"));
  const auto handle = ranks[0].rma()->import_key(1, *key);
  ASSERT_TRUE(handle);
  for (mock::Device& device : ranks.network().devices) device.requests = 0;
  const auto sent = bytes_of(kLarge);
  ASSERT_EQ(ranks[0].rma()->put(1, *handle, 5, sent, false, 1).kind, Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), large.begin() + 5));
  EXPECT_EQ(ranks.network().devices[1].requests, 0);
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
