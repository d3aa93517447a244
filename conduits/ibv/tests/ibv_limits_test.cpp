// Connections, credits, and devices with small limits.

#include "conduits/ibv/tests/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace aqueduct::conduits::ibv {
namespace {

using Kind = core::Post::Kind;
using testing::HasSubstr;

core::Post send_number(IbvConduit& from, Rank to, std::uint64_t number, std::size_t payload = 0) {
  alignas(8) std::byte header[8];
  std::memcpy(header, &number, sizeof number);
  const auto bytes = bytes_of(payload, static_cast<unsigned>(number));
  return from.send(to, header, bytes, 0);
}

/// All operations in both directions at once, with a peer that polls rarely: all arrive, in order, within all limits.
void exchange(Ranks& ranks) {
  constexpr std::uint64_t kRounds = 300;
  std::vector<std::byte> sent = bytes_of(8 * kRounds);
  std::vector<std::byte> got(8 * kRounds);
  const auto post = [&](std::uint64_t i, int what) {
    const auto piece = std::span(sent).subspan(8 * i, 8);
    switch (what) {
      case 0: return ranks[0].rma()->put(1, ranks.key(), 8 * i, piece, i % 3 == 0, 4 * i);
      case 1: return send_number(ranks[0], 1, i, i % 400);
      case 2: return send_number(ranks[1], 0, i);
      case 3:
        return ranks[0].signal()->put_signal(1, ranks.key(), 8 * i, piece, {1, i % 5 == 0 ? 5000u : 1u},
                                             4 * i + 1);
      default: return ranks[0].rma()->get(1, ranks.key(), 8 * i, std::span(got).subspan(8 * i, 8), 4 * i + 2);
    }
  };
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    for (int what = 0; what < 5; ++what) {
      const core::Post answer = ranks.insist([&] { return post(i, what); });
      ASSERT_NE(answer.kind, Kind::retry) << "round " << i << ", " << what << ": " << ranks[0].state_of(1);
      ASSERT_NE(answer.kind, Kind::failed) << ranks.said();
    }
    if (i % 7 == 0) ranks.poll();
  }
  const auto all_here = [&] {
    return ranks.heard(0).completed_ones.size() >= 3 * kRounds && ranks.heard(0).packets.size() == kRounds &&
           ranks.heard(1).packets.size() == kRounds && ranks.heard(1).signals.size() == kRounds;
  };
  ASSERT_TRUE(ranks.until(all_here)) << ranks[0].state_of(1);
  for (const auto& [token, status] : ranks.heard(0).completed_ones) EXPECT_TRUE(status) << token;
  EXPECT_EQ(got, sent);
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    std::uint64_t number = 0;
    std::memcpy(&number, ranks.heard(1).packets[i].data(), sizeof number);
    ASSERT_EQ(number, i);
    EXPECT_TRUE(std::ranges::equal(std::span(ranks.heard(1).packets[i]).subspan(8),
                                   bytes_of(i % 400, static_cast<unsigned>(i))));
  }
  const mock::Counts& counts = ranks.network().counts;
  EXPECT_EQ(counts.not_ready, 0);
  EXPECT_EQ(counts.overruns, 0);
  EXPECT_EQ(counts.breaches, 0);
  EXPECT_TRUE(ranks.log().empty()) << ranks.said();
}

IbvOptions little() {
  IbvOptions options;
  options.packet = 512;
  options.credits = 2;
  options.queue = 16;
  options.depth = 8;
  return options;
}

TEST(IbvLimits, OfAnOrdinaryDeviceAreKept) {
  Ranks ranks;
  exchange(ranks);
}

TEST(IbvLimits, OfTinyQueuesAreKept) {
  Ranks ranks(little());
  exchange(ranks);
}

TEST(IbvLimits, OfADeviceWithoutSharedReceivesAreKept) {
  Ranks ranks(little(), 2, [](mock::Network& network) { network.devices[0].limits.max_srq = 0; });
  exchange(ranks);
}

TEST(IbvLimits, OfADeviceThatTakesNothingInlineAreKept) {
  Ranks ranks({}, 2, [](mock::Network& network) { network.devices[0].most_inline = 0; });
  exchange(ranks);
}

TEST(IbvLimits, OfADeviceThatTakesLittleInlineAndOnePieceAreKept) {
  Ranks ranks({}, 2, [](mock::Network& network) {
    network.devices[0].most_inline = 20;
    network.devices[0].limits.max_sge = 1;
  });
  exchange(ranks);
}

TEST(IbvLimits, OfADeviceWithOneReadAtATimeAndShortQueuesAreKept) {
  Ranks ranks({}, 2, [](mock::Network& network) {
    auto& limits = network.devices[0].limits;
    limits.max_qp_init_rd_atom = 1;
    limits.max_qp_rd_atom = 1;
    limits.max_qp_wr = 64;
    limits.max_cqe = 256;
    limits.max_srq_wr = 8;
  });
  exchange(ranks);
}

TEST(IbvCredits, EndBeforeTheReceivesDo) {
  IbvOptions options;
  options.credits = 4;
  Ranks ranks(options);
  ranks.meet();
  std::uint64_t sent = 0;
  while (sent < 100 && send_number(ranks[0], 1, sent).kind == Kind::done) ++sent;
  EXPECT_EQ(sent, 4u);
  EXPECT_EQ(ranks[0].signal()->put_signal(1, ranks.key(), 0, {}, {1, 1}, 5).kind, Kind::retry)
      << "it takes a receive, too";
  EXPECT_THAT(ranks[0].state_of(1), HasSubstr("0 of 4 credits left"));
  ranks[1].poll(ranks.heard(1));  // takes them, and returns the credits by a write
  EXPECT_EQ(send_number(ranks[0], 1, sent).kind, Kind::done);
  EXPECT_EQ(ranks.network().counts.not_ready, 0);
}

TEST(IbvCredits, ComeBackWithMessagesThatGoTheOtherWay) {
  Ranks ranks;
  ranks.meet();
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(send_number(ranks[0], 1, i).kind, Kind::done) << i;
    ranks[1].poll(ranks.heard(1));
    ASSERT_EQ(send_number(ranks[1], 0, i).kind, Kind::done) << i;
    ranks[0].poll(ranks.heard(0));
  }
  EXPECT_EQ(ranks.network().counts.writes, 0) << "no credits needed a write of their own";
}

TEST(IbvConnections, AreOnlyMadeWithPeersThatAreTalkedTo) {
  Ranks ranks({}, 5);
  ranks.meet(3);
  EXPECT_THAT(ranks[0].state_of(1), HasSubstr("no connection"));
  EXPECT_THAT(ranks[0].state_of(3), HasSubstr("credits"));
  EXPECT_THAT(ranks[4].state_of(0), HasSubstr("no connection"));
}

TEST(IbvConnections, AreMadeThoughDatagramsAreLostAndBothBegin) {
  for (int dropped = 0; dropped < 6; ++dropped) {
    Ranks ranks;
    ranks.network().faults.drop_datagrams = dropped;
    ASSERT_EQ(send_number(ranks[0], 1, 1).kind, Kind::retry);
    ASSERT_EQ(send_number(ranks[1], 0, 2).kind, Kind::retry);
    ASSERT_EQ(ranks.insist([&] { return send_number(ranks[0], 1, 1); }).kind, Kind::done) << dropped;
    ASSERT_EQ(ranks.insist([&] { return send_number(ranks[1], 0, 2); }).kind, Kind::done) << dropped;
    ASSERT_TRUE(
        ranks.until([&] { return ranks.heard(0).packets.size() + ranks.heard(1).packets.size() == 2; }));
    EXPECT_TRUE(ranks.log().empty()) << ranks.said();
  }
}

// Bytes of a send queue entry on mlx5: blocks of 64, of which control, address and length of inline data take 36.
TEST(IbvMemory, OfAConnectedPeerIsAtMost64KiB) {
  const IbvOptions options;
  Ranks ranks(options, 3);
  ranks.meet(1);
  const std::size_t before = ranks.network().registered();
  ranks.meet(2);
  const std::size_t registered = (ranks.network().registered() - before) / 2;  // both ends register it
  EXPECT_GE(registered, options.credits * options.packet);
  const std::size_t entry = (36 + options.inline_bytes + 63) / 64 * 64;
  const std::size_t own = sizeof(Connection) + options.depth * sizeof(OutstandingRequest);
  EXPECT_LE(registered + options.depth * entry + own, 64u << 10)
      << registered << " of receives, " << options.depth << " requests of " << entry << " and " << own;
}

TEST(IbvMemory, ThatCannotBeLockedIsExplained) {
  Ranks ranks;
  ranks.network().faults.lockable = 1 << 20;
  std::vector<std::byte> large(8 << 20);
  EXPECT_EQ(ranks[0].rma()->register_segment(1, large).status().code(), ErrorCode::no_memory);
  EXPECT_THAT(ranks.said(), HasSubstr("ulimit -l"));
}

TEST(IbvMemory, KeysOfAnotherJobAreRefused) {
  Ranks ranks;
  auto key = ranks.exported(1);
  key[0] ^= std::byte{1};
  EXPECT_EQ(ranks[0].rma()->import_key(1, key).status().code(), ErrorCode::not_supported);
  EXPECT_THAT(ranks.said(), HasSubstr("another job"));
  key.pop_back();
  EXPECT_EQ(ranks[0].rma()->import_key(1, key).status().code(), ErrorCode::not_supported);
}

TEST(IbvConnections, WithAnotherKindOfPortAreRefusedByName) {
  Ranks ranks;
  std::vector<std::vector<std::byte>> addresses{ranks[0].address(), ranks[1].address()};
  for (const NetworkKind kind : {NetworkKind::roce, NetworkKind::iwarp}) {
    addresses[1][offsetof(Address, network)] = static_cast<std::byte>(kind);
    EXPECT_EQ(ranks[0].connect(addresses), Status(ErrorCode::bad_setting, 1));
    EXPECT_THAT(ranks.said(), HasSubstr(name_of(kind)));
    EXPECT_THAT(ranks.said(), HasSubstr("AQUEDUCT_IBV_DEVICE"));
  }
  addresses[1][0] ^= std::byte{8};
  EXPECT_EQ(ranks[0].connect(addresses), Status(ErrorCode::version_mismatch, 1));
  addresses[1] = ranks[1].address();
  addresses[1].pop_back();
  EXPECT_EQ(ranks[0].connect(addresses), Status(ErrorCode::bootstrap_failed, 1));
}

TEST(IbvWait, EndsWhenSomethingArrives) {
  Ranks ranks;
  ranks.meet();
  ranks[1].waitable()->arm();
  ranks[1].poll(ranks.heard(1));
  ASSERT_EQ(send_number(ranks[0], 1, 1).kind, Kind::done);
  const auto since = std::chrono::steady_clock::now();
  ranks[1].waitable()->sleep(std::chrono::seconds(20));
  EXPECT_LT(std::chrono::steady_clock::now() - since, std::chrono::seconds(5));
  ranks[1].waitable()->disarm();
  ranks[1].poll(ranks.heard(1));
  EXPECT_EQ(ranks.heard(1).packets.size(), 1u);
  // That event is taken: the next sleep lasts.
  ranks[1].waitable()->arm();
  ranks[1].poll(ranks.heard(1));
  const auto again = std::chrono::steady_clock::now();
  ranks[1].waitable()->sleep(std::chrono::milliseconds(30));
  EXPECT_GE(std::chrono::steady_clock::now() - again, std::chrono::milliseconds(29));
}

// Credits return by a write to memory, which causes no completion.
TEST(IbvWait, OfASenderWithoutCreditsIsShort) {
  Ranks ranks;
  ranks.meet();
  while (send_number(ranks[0], 1, 1).kind == Kind::done) continue;
  ranks[0].waitable()->arm();
  ranks[0].poll(ranks.heard(0));
  EXPECT_EQ(ranks[0].waitable()->within(), std::chrono::nanoseconds::max()) << "nobody has asked since";
  ASSERT_EQ(send_number(ranks[0], 1, 1).kind, Kind::retry);
  EXPECT_LE(ranks[0].waitable()->within(), std::chrono::milliseconds(1));
  ranks[1].poll(ranks.heard(1));
  ASSERT_EQ(send_number(ranks[0], 1, 1).kind, Kind::done);
}

// Nobody waits for the end of a message, so the poll that finds it reports nothing, and the sleep begins.
TEST(IbvWait, EndsWhenSomethingArrivesAfterSomethingOfNoConcern) {
  Ranks ranks;
  ranks.meet();
  ranks[1].waitable()->arm();
  ranks[1].poll(ranks.heard(1));
  ASSERT_EQ(ranks.insist([&] { return send_number(ranks[1], 0, 1, 1000); }).kind, Kind::done);
  ASSERT_EQ(ranks[1].poll(ranks.heard(1)), 0);
  ASSERT_EQ(send_number(ranks[0], 1, 1).kind, Kind::done);
  const auto since = std::chrono::steady_clock::now();
  ranks[1].waitable()->sleep(std::chrono::seconds(20));
  EXPECT_LT(std::chrono::steady_clock::now() - since, std::chrono::seconds(5));
  EXPECT_EQ(ranks[1].poll(ranks.heard(1)), 1);
}

TEST(IbvWait, BeginsOnlyWhenAllThatCameHasBeenTaken) {
  IbvOptions options;
  options.credits = 40;
  Ranks ranks(options);
  ranks.meet();
  for (std::uint64_t i = 0; i < 40; ++i) ASSERT_EQ(send_number(ranks[0], 1, i).kind, Kind::done);
  ranks[1].waitable()->arm();
  ranks[1].poll(ranks.heard(1));
  ASSERT_LT(ranks.heard(1).packets.size(), 40u) << "more than a poll takes";
  EXPECT_LE(ranks[1].waitable()->within().count(), 0);
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
