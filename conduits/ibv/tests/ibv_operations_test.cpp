// How many work requests each operation takes, and that it works.

#include "conduits/ibv/tests/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace aqueduct::conduits::ibv {
namespace {

using Kind = core::Post::Kind;

bool holds(const std::vector<std::byte>& memory, std::size_t at, const std::vector<std::byte>& bytes) {
  return std::equal(bytes.begin(), bytes.end(), memory.begin() + static_cast<std::ptrdiff_t>(at));
}

TEST(IbvOperations, APutOfAnySizeIsOneWrite) {
  Ranks ranks;
  ranks.meet();
  core::Token token = 1;
  for (const std::size_t size : {1u, 8u, 192u, 193u, 4096u, 4097u, 300'000u}) {
    for (const bool inject : {false, true}) {
      if (inject && size > ranks[0].properties().max_inject) continue;
      ranks.network().counts = {};
      auto sent = bytes_of(size, static_cast<unsigned>(token));
      const auto expected = sent;
      ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 16, sent, inject, token).kind, Kind::posted) << size;
      if (inject) std::ranges::fill(sent, std::byte{0});
      EXPECT_TRUE(ranks.end_of(token++));
      EXPECT_TRUE(holds(ranks.memory(1), 16, expected)) << size;
      EXPECT_EQ(ranks.network().counts.requests(), 1) << size;
      EXPECT_EQ(ranks.network().counts.completions, 1) << size;
    }
  }
}

// Job::finish polls until the conduit is settled. Without it the program's memory may be gone, also that of short puts.
TEST(IbvOperations, ABurstIsNotSettledUntilAPollAndIsDroppedWithTheConduit) {
  Ranks ranks;
  ranks.meet();
  const auto first = bytes_of(8);
  const auto put = [&](std::size_t at, const std::vector<std::byte>& from, core::Token token) {
    EXPECT_EQ(ranks[0].rma()->put(1, ranks.key(), at, from, false, token).kind, Kind::posted);
  };
  put(64, first, 1);
  put(72, first, 2);
  EXPECT_FALSE(ranks[0].settled());
  EXPECT_TRUE(ranks.end_of(2));
  EXPECT_TRUE(ranks[0].settled());
  put(80, first, 3);
  auto gone = std::make_unique<std::vector<std::byte>>(first);
  put(88, *gone, 4);
  put(96, *gone, 5);
  gone.reset();
  const int doorbells = ranks.network().counts.doorbells;
  ranks.close(0);
  EXPECT_EQ(ranks.network().counts.doorbells, doorbells);
  EXPECT_TRUE(holds(ranks.memory(1), 80, first));
  EXPECT_FALSE(holds(ranks.memory(1), 88, first));
  EXPECT_FALSE(holds(ranks.memory(1), 96, first));
}

TEST(IbvOperations, APutFromASegmentTakesNoCopy) {
  Ranks ranks;
  ranks.meet();
  const auto expected = bytes_of(3000);
  std::ranges::copy(expected, ranks.memory(0).begin() + 64);
  ASSERT_EQ(
      ranks[0].rma()->put(1, ranks.key(), 0, std::span(ranks.memory(0)).subspan(64, 3000), false, 1).kind,
      Kind::posted);
  EXPECT_TRUE(ranks.end_of(1));
  EXPECT_TRUE(holds(ranks.memory(1), 0, expected));
}

TEST(IbvOperations, ABurstOfPutsIsOneDoorbellAndOneCompletionForMoreThanThirtyTwo) {
  Ranks ranks;
  ranks.meet();
  constexpr int kPuts = 256;
  const auto sent = bytes_of(kPuts * 8);
  for (int i = 0; i < kPuts; ++i) {
    const auto one = std::span(sent).subspan(static_cast<std::size_t>(i) * 8, 8);
    core::Post post = core::Post::retry();
    while (post.kind == Kind::retry) {
      post =
          ranks[0].rma()->put(1, ranks.key(), static_cast<std::uint64_t>(i) * 8, one, i % 2 == 0, 1000 + i);
      if (post.kind == Kind::retry) ranks[0].poll(ranks.heard(0));
    }
    ASSERT_EQ(post.kind, Kind::posted);
  }
  for (int i = 0; i < kPuts; ++i) EXPECT_TRUE(ranks.end_of(1000 + i)) << i;
  EXPECT_TRUE(holds(ranks.memory(1), 0, sent));
  EXPECT_EQ(ranks.network().counts.writes, kPuts);
  EXPECT_LE(ranks.network().counts.completions, kPuts / 32);
  EXPECT_LE(ranks.network().counts.doorbells, kPuts / 32);
}

TEST(IbvOperations, ALonePutDoesNotWaitForAPoll) {
  Ranks ranks;
  ranks.meet();
  const auto sent = bytes_of(8, 5);
  ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 0, sent, false, 1).kind, Kind::posted);
  EXPECT_TRUE(holds(ranks.memory(1), 0, sent));
}

TEST(IbvOperations, AGetOfAnySizeIsOneRead) {
  Ranks ranks;
  ranks.meet();
  const auto there = bytes_of(Ranks::kSegment);
  std::ranges::copy(there, ranks.memory(1).begin());
  core::Token token = 1;
  for (const std::size_t size : {1u, 8u, 4096u, 4097u, 300'000u}) {
    ranks.network().counts = {};
    std::vector<std::byte> got(size);
    ASSERT_EQ(ranks[0].rma()->get(1, ranks.key(), 32, got, token).kind, Kind::posted);
    EXPECT_TRUE(ranks.end_of(token++));
    EXPECT_TRUE(holds(there, 32, got)) << size;
    EXPECT_EQ(ranks.network().counts.reads, 1);
    EXPECT_EQ(ranks.network().counts.requests(), 1);
  }
}

TEST(IbvOperations, ASignalTravelsWithItsPut) {
  Ranks ranks;
  ranks.meet();
  core::Token token = 1;
  for (const std::size_t size : {0u, 8u, 5000u}) {
    for (const Signal signal : {Signal{3, 7}, Signal{3, 1 << 20}, Signal{1u << 20, 1}}) {
      ranks.network().counts = {};
      ranks.heard(1).signals.clear();
      const auto sent = bytes_of(size, static_cast<unsigned>(token));
      const auto attempt = [&] {
        return ranks[0].signal()->put_signal(1, ranks.key(), 8, sent, signal, token);
      };
      ASSERT_EQ(ranks.insist(attempt).kind, Kind::posted);
      ASSERT_TRUE(ranks.until([&] { return !ranks.heard(1).signals.empty(); }));
      EXPECT_TRUE(holds(ranks.memory(1), 8, sent));
      EXPECT_EQ(ranks.heard(1).signals[0].slot, signal.slot);
      EXPECT_EQ(ranks.heard(1).signals[0].add, signal.add);
      EXPECT_TRUE(ranks.end_of(token++));
      const bool fits = signal.add < 64 && signal.slot < (1u << 18);
      EXPECT_EQ(ranks.network().counts.signalled_writes, fits ? 1 : 0);
      EXPECT_EQ(ranks.network().counts.sends, fits ? 0 : 1);
    }
  }
}

// Signals too large for immediate data follow in a message: either both are posted, or nothing has a visible effect.
TEST(IbvOperations, ASignalBehindItsPutWaitsAsAWholeHoweverLittleRoomThereIs) {
  for (const std::uint32_t queue : {8u, 11u, 12u, 16u}) {
    for (std::uint32_t busy = 0; busy < queue; ++busy) {
      IbvOptions options;
      options.queue = options.depth = queue;
      options.inline_bytes = 0;
      Ranks ranks(options);
      ranks.meet();
      ranks.network().faults.silent = true;
      std::vector<std::vector<std::byte>> got(busy, std::vector<std::byte>(64));
      for (std::uint32_t i = 0; i < busy; ++i) {
        static_cast<void>(ranks[0].rma()->get(1, ranks.key(), 0, got[i], 10 + i));
      }
      ranks.network().counts = {};
      const auto sent = bytes_of(64);
      const core::Post post = ranks[0].signal()->put_signal(1, ranks.key(), 8, sent, {1u << 20, 1}, 1);
      const int requests = ranks.network().counts.requests();
      ASSERT_EQ(requests, post.kind == Kind::posted ? 2 : 0) << busy << " of " << queue;
      ranks.network().resume();
      if (post.kind == Kind::retry) {
        const auto attempt = [&] {
          return ranks[0].signal()->put_signal(1, ranks.key(), 8, sent, {1u << 20, 1}, 1);
        };
        ASSERT_EQ(ranks.insist(attempt).kind, Kind::posted) << busy << " of " << queue;
      }
      EXPECT_TRUE(ranks.end_of(1));
      EXPECT_TRUE(ranks.until([&] { return ranks.heard(1).signals.size() == 1; }));
    }
  }
}

TEST(IbvOperations, AShortMessageIsOneRequestWithoutACompletion) {
  Ranks ranks;
  ranks.meet();
  alignas(8) const std::byte header[32]{std::byte{9}};
  ASSERT_EQ(ranks[0].send(1, header, {}, 0).kind, Kind::done);
  EXPECT_EQ(ranks.network().counts.requests(), 1);
  EXPECT_EQ(ranks.network().counts.completions, 0);
  ASSERT_TRUE(ranks.until([&] { return !ranks.heard(1).packets.empty(); }));
  EXPECT_EQ(ranks.heard(1).packets[0], std::vector<std::byte>(header, header + 32));
}

TEST(IbvOperations, AMessageArrivesAfterThePutsThatWereHeldBeforeIt) {
  Ranks ranks;
  ranks.meet();
  alignas(8) const std::byte header[8]{};
  const auto sent = bytes_of(24);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(ranks[0].rma()->put(1, ranks.key(), 8 * i, std::span(sent).subspan(8 * i, 8), false, i).kind,
              Kind::posted);
  }
  ASSERT_EQ(ranks[0].send(1, header, {}, 0).kind, Kind::done);
  EXPECT_EQ(ranks.network().counts.doorbells, 2);  // one for the first put, one for all others
  ranks[1].poll(ranks.heard(1));
  EXPECT_EQ(ranks.heard(1).packets.size(), 1u);
  EXPECT_TRUE(holds(ranks.memory(1), 0, sent));
  for (core::Token token = 0; token < 3; ++token) EXPECT_TRUE(ranks.end_of(token));
}

TEST(IbvOperations, AtomicsAreOneRequestEachToOneselfToo) {
  Ranks ranks;
  ranks.meet();
  ASSERT_TRUE(ranks[0].atomics()->operations().has(AtomicOp::add, AtomicType::u64));
  EXPECT_FALSE(ranks[0].atomics()->operations().has(AtomicOp::add, AtomicType::u32));
  EXPECT_FALSE(ranks[0].atomics()->operations().has(AtomicOp::bit_xor, AtomicType::u64));
  for (const Rank target : {1u, 0u}) {
    const std::uint64_t start = 40;
    std::memcpy(ranks.memory(target).data() + 64, &start, sizeof start);
    std::uint64_t old = 0;
    core::Token token = 10 * target;
    const auto run = [&](AtomicOp op, std::uint64_t operand, std::uint64_t expected) {
      const detail::AtomicCall call{op, AtomicType::u64, operand, expected, &old};
      ++token;
      ranks.network().counts = {};
      const auto attempt = [&] {
        return ranks[0].atomics()->atomic(target, ranks.key(target), 64, call, token);
      };
      EXPECT_EQ(ranks.insist(attempt).kind, Kind::posted);
      EXPECT_TRUE(ranks.end_of(token));
      EXPECT_EQ(ranks.network().counts.requests(), 1);
      return old;
    };
    EXPECT_EQ(run(AtomicOp::add, 2, 0), 40u);
    EXPECT_EQ(run(AtomicOp::compare_swap, 7, 41), 42u);
    EXPECT_EQ(run(AtomicOp::compare_swap, 7, 42), 42u);
    EXPECT_EQ(run(AtomicOp::load, 99, 0), 7u);
  }
  EXPECT_EQ(ranks[0].atomics()->atomic(1, ranks.key(), 4, {AtomicOp::add, AtomicType::u64}, 1).why,
            ErrorCode::misaligned);
}

TEST(IbvOperations, WhatIsBeyondASegmentIsRefusedHere) {
  Ranks ranks;
  ranks.meet();
  const auto bytes = bytes_of(16);
  std::vector<std::byte> room(16);
  EXPECT_EQ(ranks[0].rma()->put(1, ranks.key(), Ranks::kSegment - 8, bytes, false, 1).why,
            ErrorCode::out_of_range);
  EXPECT_EQ(ranks[0].rma()->get(1, ranks.key(), UINT64_MAX - 4, room, 1).why, ErrorCode::out_of_range);
  EXPECT_EQ(ranks.network().counts.requests(), 0);
  EXPECT_NE(ranks.said().find("beyond rank 1's segment 0"), std::string::npos) << ranks.said();
}

TEST(IbvOperations, ToOneselfNeedNoAdapter) {
  Ranks ranks;
  const auto sent = bytes_of(100);
  alignas(8) const std::byte header[8]{};
  EXPECT_EQ(ranks[0].rma()->put(0, ranks.key(0), 8, sent, false, 1).kind, Kind::done);
  EXPECT_TRUE(holds(ranks.memory(0), 8, sent));
  EXPECT_EQ(ranks[0].signal()->put_signal(0, ranks.key(0), 0, sent, {2, 1}, 1).kind, Kind::done);
  EXPECT_EQ(ranks[0].send(0, header, {}, 0).kind, Kind::done);
  ranks.poll();
  EXPECT_EQ(ranks.heard(0).signals.size(), 1u);
  EXPECT_EQ(ranks.heard(0).packets.size(), 1u);
  EXPECT_EQ(ranks.network().counts.requests(), 0);
}

}  // namespace
}  // namespace aqueduct::conduits::ibv
