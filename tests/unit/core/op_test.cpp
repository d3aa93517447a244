#include "core/layer.hpp"
#include "core/op.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace aqueduct::core {
namespace {

/// The n-th number of /proc/self/statm, in bytes.
std::size_t of_memory(int n) {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  for (int i = 0; i <= n; ++i) file >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}
std::size_t address_space() { return of_memory(0); }
std::size_t resident_bytes() { return of_memory(1); }

constexpr Status kLost{ErrorCode::peer_lost, 3};
constexpr OpKind kSomePut{"a put"};
constexpr OpKind kSomeGet{"a get"};

/// Counts the calls of `ended`, and continues with the first `more` operations.
struct CountingLayer final : Layer {
  int ended = 0;
  int more = 0;
  Status last;
  static bool count(Layer& layer, Op& op) noexcept {
    auto& self = static_cast<CountingLayer&>(layer);
    ++self.ended;
    self.last = op.outcome;
    return self.more-- <= 0;
  }
};

TEST(OpPool, ALastPartEndsAnOperationAndItsOutcomeIsTheFirstFailure) {
  OpPool pool(4);
  Op* op = pool.acquire(kSomePut, 3, true);
  ASSERT_NE(op, nullptr);
  op->parts = 3;
  pool.part_ended(*op, {});
  pool.part_ended(*op, kLost);
  EXPECT_EQ(op->done.load(), 0u);
  EXPECT_EQ(pool.in_flight(), 1u);
  pool.part_ended(*op, {ErrorCode::internal, 1});
  EXPECT_EQ(op->done.load(), 1u);
  EXPECT_EQ(pool.in_flight(), 0u);
  EXPECT_EQ(pool.collect(*op), kLost);
  EXPECT_EQ(pool.in_flight(), 0u);
}

TEST(OpPool, RoomOfExplicitAndInternalOperationsIsSeparate) {
  OpPool pool(2);
  Op* first = pool.acquire(kSomePut, 0, true);
  Op* second = pool.acquire(kSomePut, 0, true);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(pool.acquire(kSomePut, 0, true), nullptr);
  Op* internal = pool.acquire(kSomePut, 0, false);
  ASSERT_NE(internal, nullptr);
  EXPECT_NE(pool.acquire(kSomePut, 0, false), nullptr);
  EXPECT_EQ(pool.acquire(kSomePut, 0, false), nullptr);
  EXPECT_EQ(pool.in_flight(), 4u);
  pool.part_ended(*second, {});
  EXPECT_EQ(pool.acquire(kSomePut, 0, true), nullptr) << "done, but its Event has not been looked at";
  EXPECT_TRUE(pool.collect(*second).ok());
  EXPECT_EQ(pool.acquire(kSomeGet, 1, true), second);
}

TEST(OpPool, ALateCompletionFindsNobody) {
  OpPool pool(1);
  Op* op = pool.acquire(kSomePut, 0, true);
  const Token token = OpPool::token(*op);
  EXPECT_NE(token, 0u);
  EXPECT_EQ(pool.find(token), op);
  pool.part_ended(*op, {});
  EXPECT_EQ(pool.find(token), nullptr) << "it is over";
  EXPECT_TRUE(pool.collect(*op).ok());
  EXPECT_EQ(pool.find(token), nullptr);
  Op* next = pool.acquire(kSomePut, 0, true);
  EXPECT_EQ(next, op);
  EXPECT_EQ(pool.find(token), nullptr) << "the same record serves another operation now";
  EXPECT_EQ(pool.find(OpPool::token(*next)), next);
}

TEST(OpPool, TokensThatAreNoneFindNobody) {
  OpPool pool(4);
  for (const Token token : {Token{0}, Token{1}, Token{7}, Token{8}, (Token{1} << 32) | 3, ~Token{0}}) {
    EXPECT_EQ(pool.find(token), nullptr) << token;
  }
}

TEST(OpPool, HasRoomForAHundredThousandHeldAndTakesMemoryForThoseOnly) {
  constexpr std::uint32_t kHeld = 100'000;
  OpPool pool(1u << 20);
  EXPECT_EQ(pool.capacity(), 1u << 20);
  std::vector<Op*> held(kHeld);
  const auto before = resident_bytes();
  for (Op*& op : held) {
    op = pool.acquire(kSomePut, 0, true);
    ASSERT_NE(op, nullptr);
  }
#if !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)  // these need memory for each page of the program's
  EXPECT_LE(resident_bytes() - before, kHeld * 200 + (2u << 20)) << "what event.hpp promises, and a step";
#endif
  EXPECT_GE(resident_bytes() - before, kHeld * sizeof(Op) / 2) << "else this measures nothing";
  for (Op* op : held) EXPECT_EQ(pool.find(OpPool::token(*op)), op);
  Op* internal = pool.acquire(kSomePut, 0, false);
  ASSERT_NE(internal, nullptr);
  EXPECT_EQ(pool.find(OpPool::token(*internal)), internal);
  EXPECT_EQ(pool.in_flight(), kHeld + 1);
  for (Op* op : held) {
    pool.part_ended(*op, {});
    EXPECT_TRUE(pool.collect(*op).ok());
  }
  const auto after = resident_bytes();
  for (Op*& op : held) op = pool.acquire(kSomeGet, 1, true);
  EXPECT_LE(resident_bytes(), after + (1u << 20)) << "the same ones are used again";
}

TEST(OpPool, WithoutMemoryHasNoInternalOperationToWaitFor) {
  OpPool pool(4);
  EXPECT_FALSE(pool.has_internal());
  const int problem = support::in_a_child([&] {
    // Pages that become writable count, and so the pool's first ones.
    const rlimit none{1, 1};
    if (::setrlimit(RLIMIT_DATA, &none) != 0) return 1;
    if (pool.acquire(kSomePut, 3, false) != nullptr) return 2;
    return pool.has_internal() ? 3 : 0;
  });
  EXPECT_EQ(problem, 0);
  Op* const op = pool.acquire(kSomePut, 3, false);
  ASSERT_NE(op, nullptr);
  EXPECT_TRUE(pool.has_internal());
  pool.part_ended(*op, {});
  static_cast<void>(pool.collect(*op));
  EXPECT_TRUE(pool.has_internal()) << "it is free now";
}

TEST(OpPool, OfASizeThatNoMachineHasRoomForIsSmaller) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  rlimit tight = before;
  tight.rlim_cur = address_space() + (256u << 20);  // less than the pool below asks for
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer has taken all addresses itself";
#endif
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  std::uint32_t got = 0;
  {
    OpPool pool(1u << 24);
    got = pool.capacity();
    EXPECT_NE(pool.acquire(kSomePut, 0, true), nullptr);
  }
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_GE(got, 1u << 13);
  EXPECT_LE(got * sizeof(Op), tight.rlim_cur / 64)
      << "segments, stacks and other endpoints need addresses too";
}

TEST(OpPool, WhatWentBackUnbegunIsNotReportedAsUnderWay) {
  OpPool pool(4);
  Op* refused = pool.acquire(kSomePut, 3, true);
  pool.take_back(*refused);
  EXPECT_TRUE(pool.busiest().empty());
  EXPECT_EQ(pool.in_flight(), 0u);
  EXPECT_EQ(pool.acquire(kSomePut, 2, true), refused);
  EXPECT_EQ(pool.busiest().size(), 1u);
}

TEST(OpPool, AGroupEndsWithTheLastOfItsOperations) {
  OpPool pool(8);
  Op* group = pool.acquire(kGroup, kNoRank, true);
  Op* members[2];
  for (Op*& op : members) {
    op = pool.acquire(kSomePut, 3, false);
    op->group = group;
    ++group->parts;
  }
  pool.part_ended(*group, {});  // the region is closed
  pool.part_ended(*members[0], {});
  EXPECT_EQ(group->done.load(), 0u);
  pool.part_ended(*members[1], kLost);
  EXPECT_EQ(group->done.load(), 1u);
  EXPECT_EQ(pool.in_flight(), 0u) << "members return to the pool by themselves";
  EXPECT_EQ(pool.collect(*group), kLost);
}

TEST(OpPool, AnAbandonedOperationReturnsToThePoolWhenItEnds) {
  OpPool pool(1);
  Op* op = pool.acquire(kSomePut, 0, true);
  pool.abandon(*op);
  EXPECT_EQ(pool.acquire(kSomePut, 0, true), nullptr);
  pool.part_ended(*op, {});
  EXPECT_EQ(pool.in_flight(), 0u);
  EXPECT_EQ(pool.acquire(kSomePut, 0, true), op);
}

TEST(OpPool, ASharedOperationReturnsToThePoolWhenItIsOverAndTheLastHolderHasGone) {
  for (const bool holder_goes_first : {false, true}) {
    OpPool pool(1);
    Op* op = pool.acquire(kSomePut, 0, true);
    OpPool::share(*op);
    op->holders.fetch_add(1);  // a copy
    pool.drop_holder(*op);
    if (holder_goes_first) pool.drop_holder(*op);
    EXPECT_EQ(pool.acquire(kSomePut, 0, true), nullptr) << "in flight";
    pool.part_ended(*op, kLost);
    EXPECT_EQ(op->done.load(), 1u);
    EXPECT_EQ(pool.in_flight(), 0u);
    if (!holder_goes_first) {
      EXPECT_EQ(pool.acquire(kSomePut, 0, true), nullptr) << "still held";
      EXPECT_EQ(op->outcome, kLost);
      pool.drop_holder(*op);
    }
    EXPECT_EQ(pool.acquire(kSomePut, 0, true), op);
    EXPECT_EQ(op->holders.load(), 0u);
    EXPECT_EQ(pool.in_flight(), 1u);
  }
}

TEST(OpPool, MembersOfAGroupMoveToAnotherOne) {
  OpPool pool(8);
  Op* gone = pool.acquire(kGroup, kNoRank, true);
  Op* stays = pool.acquire(kGroup, kNoRank, true);
  Op* member = pool.acquire(kSomePut, 3, false);
  member->group = member->source = gone;
  gone->parts += 2;
  pool.move_members(*gone, *stays);
  EXPECT_EQ(member->group, stays);
  EXPECT_EQ(stays->parts, 3u);
  pool.part_ended(*member, {});
  EXPECT_EQ(stays->parts, 1u) << "its source and itself have ended";
  EXPECT_EQ(gone->parts, 3u) << "nothing touches it any more";
}

TEST(OpPool, ALayerHearsOfTheEndOnceWhetherItIsASuccessOrAFailure) {
  for (const Status outcome : {Status{}, kLost}) {
    OpPool pool(1);
    CountingLayer layer;
    Op* op = pool.acquire(kSomePut, 0, true);
    op->layer = &layer;
    op->ended = CountingLayer::count;
    pool.part_ended(*op, outcome);
    EXPECT_EQ(layer.ended, 1);
    EXPECT_EQ(layer.last, outcome);
    EXPECT_EQ(op->done.load(), 1u);
    EXPECT_EQ(pool.collect(*op), outcome);
    EXPECT_EQ(layer.ended, 1);
  }
}

TEST(OpPool, ALayerMayGoOnWithAnOperationInPlaceOfItsEnd) {
  OpPool pool(1);
  CountingLayer layer;
  layer.more = 1;
  Op* op = pool.acquire(kSomePut, 0, true);
  const Token token = OpPool::token(*op);
  op->layer = &layer;
  op->ended = CountingLayer::count;
  pool.part_ended(*op, {});
  EXPECT_EQ(layer.ended, 1);
  EXPECT_EQ(op->done.load(), 0u);
  EXPECT_EQ(pool.find(token), op) << "its answers must find it";
  pool.part_ended(*op, {});
  EXPECT_EQ(op->done.load(), 1u);
  EXPECT_EQ(layer.ended, 1) << "once";
  EXPECT_EQ(pool.collect(*op), Status{});
}

TEST(OpPool, ALayerHearsOfALostPeer) {
  OpPool pool(1);
  CountingLayer layer;
  Op* op = pool.acquire(kSomePut, 3, true);
  op->by_packets = true;
  op->layer = &layer;
  op->ended = CountingLayer::count;
  pool.fail_packets(3, kLost);
  EXPECT_EQ(layer.ended, 1);
  EXPECT_EQ(layer.last, kLost);
  EXPECT_EQ(pool.collect(*op), kLost);
}

TEST(OpPool, AnOperationCarriesItsLayersPayload) {
  struct Mine {
    std::uint64_t number;
    std::byte* place;
  };
  OpPool pool(1);
  Op* op = pool.acquire(kSomePut, 0, true);
  op->payload<Mine>().number = 42;
  op->payload<Mine>().place = nullptr;
  ++op->parts;
  pool.part_ended(*op, {});
  EXPECT_EQ(std::as_const(*op).payload<Mine>().number, 42u);
}

TEST(OpPool, TheSourceIsFreeAtTheLatestWhenTheOperationEnds) {
  OpPool pool(4);
  Op* op = pool.acquire(kSomePut, 0, true);
  Op* source = pool.acquire(kSource, 0, true);
  op->source = source;
  pool.part_ended(*op, kLost);
  EXPECT_EQ(source->done.load(), 1u);
  EXPECT_EQ(pool.collect(*source), kLost);
  EXPECT_EQ(pool.collect(*op), kLost);
}

TEST(OpPool, ALostPeerFailsWhatOnlyPacketsCarryToIt) {
  OpPool pool(8);
  Op* lost = pool.acquire(kSomePut, 3, true);
  Op* native = pool.acquire(kSomePut, 3, true);  // its conduit completes it
  Op* other = pool.acquire(kSomePut, 2, true);
  Op* lent = pool.acquire(kSomePut, 3, false);  // a conduit still reads a packet of it
  lost->by_packets = other->by_packets = lent->by_packets = true;
  lost->parts = 5;
  lent->parts = 4;
  lent->sends = 1;
  pool.fail_packets(3, kLost);
  EXPECT_EQ(lost->done.load(), 1u);
  EXPECT_EQ(pool.collect(*lost), kLost);
  EXPECT_EQ(native->done.load(), 0u);
  EXPECT_EQ(other->done.load(), 0u);
  EXPECT_EQ(lent->done.load(), 0u);
  pool.part_ended(*lent, {});
  EXPECT_EQ(lent->done.load(), 1u);
  EXPECT_EQ(pool.collect(*lent), kLost);
}

TEST(OpPool, TellsWhoIsBusiest) {
  OpPool pool(16);
  for (const Rank peer : {5u, 5u, 2u}) ASSERT_NE(pool.acquire(kSomePut, peer, true), nullptr);
  ASSERT_NE(pool.acquire(kGroup, kNoRank, true), nullptr);
  auto busiest = pool.busiest();
  std::sort(busiest.begin(), busiest.end());
  EXPECT_EQ(busiest, (std::vector<std::pair<Rank, std::uint32_t>>{{2, 1}, {5, 2}}));
}

}  // namespace
}  // namespace aqueduct::core
