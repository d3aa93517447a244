// How much local memory outside segments one rank pins, and all ranks of a host.

#include "conduits/ibv/pinned.hpp"
#include "conduits/ibv/tests/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace aqueduct::conduits::ibv {
namespace {

using Kind = core::Post::Kind;

constexpr std::size_t kShare = 1 << 20;
constexpr std::size_t kTransfer = 300 << 10;

IbvOptions share_of(std::size_t bytes) {
  IbvOptions options;
  options.pinned = bytes;
  return options;
}

TEST(IbvPinned, MemoryIsDividedAmongTheRanksOfAHost) {
  const Pinnable host{std::size_t{64} << 30, SIZE_MAX};
  EXPECT_EQ(pinned_share(host, 0, {1, 1}), std::size_t{16} << 30);
  EXPECT_EQ(pinned_share(host, 0, {16, 1}), std::size_t{1} << 30);
  EXPECT_EQ(pinned_share(host, std::size_t{64} << 20, {16, 1}), std::size_t{4} << 20);
  EXPECT_EQ(pinned_share(host, 0, {1u << 20, 1}), kLeastShare);
  EXPECT_EQ(pinned_share(host, 1, {16, 1}), kLeastShare);
}

TEST(IbvPinned, MemoryIsAtMostHalfOfWhatAProcessMayLock) {
  const Pinnable host{std::size_t{64} << 30, std::size_t{256} << 20};
  EXPECT_EQ(pinned_share(host, 0, {4, 1}), std::size_t{128} << 20);
  EXPECT_EQ(pinned_share(host, 0, {4, 4}), std::size_t{32} << 20) << "threads have one limit";
  EXPECT_EQ(pinned_share(host, std::size_t{8} << 30, {4, 4}), std::size_t{2} << 30) << "who says it means it";
  const Pinnable here = pinnable_here();
  EXPECT_GT(here.memory, 0u);
  EXPECT_GT(here.per_process, 0u);
}

TEST(IbvPinned, TransfersAreCutSoThatTwoHaveRoom) {
  const auto most = [](const IbvOptions& options) { return Ranks(options)[0].properties().max_transfer; };
  EXPECT_EQ(most(share_of(kShare)), kShare / 2);
  EXPECT_EQ(most({}), std::size_t{1} << 30);
}

/// Both ranks put from ten private buffers each, as many at once as have room.
TEST(IbvPinned, MemoryOfTwoRanksStaysWithinTheirSharesAndWhatHasNoRoomGoesOn) {
  constexpr std::size_t kBuffers = 10;
  Ranks ranks(share_of(kShare));
  ranks.meet();
  const auto back = ranks[1].rma()->import_key(0, ranks.exported(0));
  ASSERT_TRUE(back);
  ASSERT_EQ(ranks.insist([&] { return ranks[1].rma()->put(0, *back, 0, bytes_of(8), true, 998); }).kind,
            Kind::posted);
  ASSERT_TRUE(ranks.until([&] { return ranks.heard(1).completed_ones.count(998) != 0; }));
  ranks.heard(1).completed_ones.clear();
  const std::size_t before = ranks.network().registered();
  ranks.network().reset_peak();

  std::vector<std::vector<std::byte>> buffers;
  for (unsigned i = 0; i < 2 * kBuffers; ++i) buffers.push_back(bytes_of(kTransfer, i));
  std::size_t begun[2] = {0, 0};
  const auto begin_some = [&] {
    for (const Rank rank : {0u, 1u}) {
      while (begun[rank] < kBuffers) {
        const std::uint64_t key = rank == 0 ? ranks.key() : *back;
        const auto& from = buffers[rank * kBuffers + begun[rank]];
        const core::Post post = ranks[rank].rma()->put(1 - rank, key, begun[rank], from, false, begun[rank]);
        ASSERT_NE(post.kind, Kind::failed);
        if (post.kind == Kind::retry) break;
        ++begun[rank];
      }
    }
  };
  ranks.network().faults.silent = true;
  begin_some();
  EXPECT_EQ(begun[0], kShare / kTransfer) << "the rest has to wait";
  EXPECT_EQ(begun[1], kShare / kTransfer) << "whatever the other rank uses";
  ranks.network().resume();
  ASSERT_TRUE(ranks.until([&] {
    begin_some();
    return ranks.heard(0).completed_ones.size() + ranks.heard(1).completed_ones.size() == 2 * kBuffers;
  }));
  EXPECT_LE(ranks.network().peak() - before, 2 * kShare);
  EXPECT_EQ(ranks.network().registered(), before) << "nothing is kept unasked";
  EXPECT_TRUE(std::equal(buffers[9].begin(), buffers[9].end(), ranks.memory(1).begin() + 9));
  EXPECT_TRUE(ranks.log().empty()) << ranks.said();
}

// A retry is no failure: it never has an error code (core::Post).
TEST(IbvPinned, WhatHasNoRoomIsARetryWithoutAReason) {
  Ranks ranks(share_of(kShare));
  ranks.meet();
  ranks.network().faults.silent = true;
  const auto from = bytes_of(kShare);
  const auto all = std::span(from);
  std::vector<std::byte> got(kTransfer);
  ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, all.first(kShare / 2), false, 1).kind, Kind::posted);
  ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, all.subspan(kShare / 2), false, 2).kind, Kind::posted);
  const auto expect_retry = [](const core::Post& post) {
    EXPECT_EQ(post.kind, Kind::retry);
    EXPECT_EQ(post.why, ErrorCode::ok);
  };
  const auto other = bytes_of(kTransfer, 2);
  expect_retry(ranks[0].rma()->put(1, ranks.key(), 0, other, false, 3));
  expect_retry(ranks[0].rma()->get(1, ranks.key(), 0, got, 3));
  expect_retry(ranks[0].signal()->put_signal(1, ranks.key(), 0, other, {1, 1}, 3));
  const core::Bytes pieces[] = {std::span(other).first(100'000), std::span(other).subspan(200'000)};
  const core::RemotePiece to[] = {{0, 100'000 + kTransfer - 200'000}};
  ASSERT_NE(ranks[0].vector(), nullptr);
  expect_retry(ranks[0].vector()->put_pieces(1, ranks.key(), to, pieces, 3));
  ranks.network().resume();
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(ranks.end_of(2));
  ASSERT_EQ(ranks.insist([&] { return ranks[0].vector()->put_pieces(1, ranks.key(), to, pieces, 3); }).kind,
            Kind::posted);
  EXPECT_TRUE(ranks.end_of(3));
}

TEST(IbvPinned, MemoryIsKeptWhereThatIsAllowedButNotBeyondTheShare) {
  IbvOptions options = share_of(kShare);
  options.keep_registered = SIZE_MAX / 2;
  Ranks ranks(options);
  ranks.meet();
  const std::size_t before = ranks.network().registered();
  std::vector<std::vector<std::byte>> buffers;
  for (unsigned i = 0; i < 10; ++i) buffers.push_back(bytes_of(kTransfer, i));
  core::Token token = 1;
  for (int turn = 0; turn < 3; ++turn) {
    for (const auto& from : buffers) {
      ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, from, false, token).kind, Kind::posted);
      ASSERT_TRUE(ranks.end_of(token++));
      EXPECT_LE(ranks.network().registered() - before, kShare);
    }
  }
  EXPECT_EQ(ranks.network().registered() - before, kShare / kTransfer * kTransfer);
}

// The endpoint calls memory_ends before it unmaps a neighbour's part, in which local buffers may have been.
TEST(IbvPinned, MemoryThatEndsIsKeptOnNoPort) {
  IbvOptions options;
  options.keep_registered = SIZE_MAX / 2;
  options.rail_bytes = 64 << 10;
  Ranks ranks(options, 2,
              [](mock::Network& network) {
                network.devices.resize(2);
                network.devices[1].name = "mock1";
              },
              {2, 2});
  ranks.meet();
  const std::size_t before = ranks.network().registered();
  const auto neighbours = bytes_of(2 * kTransfer, 1);  // as if smp had mapped them here
  const auto other = bytes_of(kTransfer, 2);
  core::Token token = 1;
  const auto put = [&](core::Bytes from) {
    ASSERT_EQ(ranks.insist([&] { return ranks[0].rma()->put(1, ranks.key(), 0, from, false, token); }).kind,
              Kind::posted);
    ASSERT_TRUE(ranks.end_of(token++));
  };
  put(other);
  const std::size_t without = ranks.network().registered();
  EXPECT_GT(without, before) << "kept";
  put(std::span(neighbours).first(kTransfer));
  put(std::span(neighbours).subspan(kTransfer));
  EXPECT_GT(ranks.network().registered(), without);
  ranks[0].memory_ends(neighbours);
  EXPECT_EQ(ranks.network().registered(), without) << "only what overlaps ends";
  put(neighbours);
  EXPECT_GT(ranks.network().registered(), without);
  EXPECT_TRUE(std::equal(neighbours.begin(), neighbours.end(), ranks.memory(1).begin()));
  EXPECT_TRUE(ranks.log().empty()) << ranks.said();
}

TEST(IbvPinned, MemoryUpTo16KiBIsCopiedAndRegisteredOnlyIfNoBufferIsFree) {
  Ranks ranks;
  ranks.meet();
  ranks.network().faults.silent = true;
  const std::size_t before = ranks.network().registered();
  const auto from = bytes_of(16 << 10);
  core::Token token = 1;
  for (; token <= 32; ++token) {
    ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, from, false, token).kind, Kind::posted);
    ASSERT_EQ(ranks.network().registered(), before) << token;
  }
  ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, from, false, token).kind, Kind::posted);
  EXPECT_EQ(ranks.network().registered(), before + from.size());
  ranks.network().resume();
  EXPECT_TRUE(ranks.end_of(token));
  EXPECT_TRUE(std::equal(from.begin(), from.end(), ranks.memory(1).begin()));
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
