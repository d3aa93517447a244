#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/order.hpp"
#include "tests/conformance/pattern.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// Fences: what was begun before arrives before what is begun after.
class Order : public FabricTest {};

using std::chrono::seconds;

// M-20.
TEST_P(Order, MessagesAreHandledInTheOrderOfTheFencesBetweenThem) {
  as_each_of(3, 4096, [](Endpoint& me) {
    std::uint64_t before = 0;  // handled of each kind
    std::uint64_t after = 0;
    bool ordered = true;
    constexpr std::uint64_t kEach = 3;
    const auto first = on_short_request<Number>(me, [&](auto&, const Number&) { ++before; });
    const auto second = on_short_request<Number>(me, [&](auto&, const Number& number) {
      ++after;
      ordered = ordered && before >= kEach * number.round;
    });
    ASSERT_TRUE(first && second);
    ASSERT_TRUE(me.barrier());
    constexpr std::uint64_t kRounds = 100;
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      for (std::uint64_t i = 0; i < kEach; ++i) ASSERT_TRUE(request(me, next(me), *first, {round}));
      ASSERT_TRUE(fence(me, next(me)));
      ASSERT_TRUE(request(me, next(me), *second, {round}));
    }
    ASSERT_TRUE(progress_until(me, [&] { return after == kRounds; })) << after << " arrived";
    EXPECT_TRUE(ordered);
    EXPECT_EQ(before, kEach * kRounds);
    ASSERT_TRUE(me.barrier());
  });
}

// M-20, M-21.
TEST_P(Order, ManyFencesWithoutAWaitKeepTheLastWriteLast) {
  as_each_of(3, 4096, [](Endpoint& me) {
    // One word, written many times: without the fences any of the values could be the last.
    constexpr std::uint64_t kWrites = 200;
    std::vector<std::uint64_t> values(kWrites);
    std::vector<Event> events;
    std::uint64_t seen = 0;
    const GlobalPtr<std::uint64_t> there{next(me), 8 * me.rank()};
    for (std::uint64_t i = 0; i < kWrites; ++i) {
      values[i] = i + 1;
      events.push_back(put_nb(me, there, std::span(values).subspan(i, 1)));
      ASSERT_TRUE(fence(me, next(me)));
      const std::uint64_t now = word_at(me, 8 * previous(me));
      ASSERT_GE(now, seen) << "a later write was overwritten by an earlier one";
      seen = now;
    }
    for (Event& event : events) ASSERT_TRUE(me.wait(event));
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(word_at(me, 8 * previous(me)), kWrites);
    ASSERT_TRUE(me.barrier());
  });
}

// M-21.
TEST_P(Order, TheOrderIsThatOfEachPeerAlone) {
  as_each_of(4, 64 * 1024, [](Endpoint& me) {
    const auto block = pattern(me.rank(), kWords ? 8 : reasonable(me, 8'000));
    for (std::uint64_t round = 1; round <= 20; ++round) {
      for (Rank to = 0; to < me.ranks(); ++to) {
        if (to == me.rank()) continue;
        ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{to, 16'000 * std::uint64_t{me.rank()}}, block));
      }
      ASSERT_TRUE(fence(me));
      std::vector<Event> events;
      for (Rank to = 0; to < me.ranks(); ++to) {
        if (to != me.rank()) events.push_back(signal_nb(me, to, {0, 1}));
      }
      ASSERT_TRUE(wait_until(me, 0, round * (me.ranks() - 1), kAnyRank, seconds(20)));
      for (Rank from = 0; from < me.ranks(); ++from) {
        if (from == me.rank()) continue;
        ASSERT_TRUE(holds(me.segment().subspan(16'000 * from, block.size()), pattern(from, block.size())))
            << "from rank " << from << ", round " << round;
      }
      for (Event& event : events) ASSERT_TRUE(me.wait(event));
      ASSERT_TRUE(me.wait_implicit());
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(Order, AnImmediateOperationIsRefusedOrInOrder) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    const std::size_t bytes = kWords ? 8 : reasonable(me, 20'000);
    for (std::uint64_t round = 1; round <= 50; ++round) {
      const auto sent = pattern(2 * round + me.rank(), bytes);
      const std::array<std::uint64_t, 1> flag{round};
      ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), 0}, sent));
      ASSERT_TRUE(fence(me, next(me)));
      Event event;
      const auto accepted = [&] {
        event = put_nb(me, GlobalPtr<std::uint64_t>{next(me), kFlag}, flag, {.immediate = true});
        return !event.done() || event.status().code() != ErrorCode::refused;
      };
      ASSERT_TRUE(progress_until(me, accepted));
      ASSERT_TRUE(me.wait(event));
      ASSERT_TRUE(progress_until(me, [&] { return word_at(me, kFlag) == round; }));
      ASSERT_TRUE(holds(me.segment().first(bytes), pattern(2 * round + previous(me), bytes)));
      ASSERT_TRUE(me.wait_implicit());
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(Order, SourcesOfHeldOperationsAreFreeWhenTheCallOrTheEventSaysSo) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    const std::size_t bytes = kWords ? 8 : reasonable(me, 10'000);
    for (std::uint64_t round = 1; round <= 30; ++round) {
      const auto first = pattern(round, bytes);
      auto second = pattern(1000 + round, bytes);
      auto third = pattern(2000 + round, bytes);
      Event free;
      ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), 0}, first));
      ASSERT_TRUE(fence(me));
      ASSERT_TRUE(
          put_nbi(me, GlobalPtr<std::byte>{next(me), 10'000}, second, {.source = SourceReuse::at_return}));
      std::ranges::fill(second, std::byte{0xee});
      ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), 20'000}, third,
                          {.source = SourceReuse::on_event, .source_event = &free}));
      ASSERT_TRUE(me.wait(free));
      std::ranges::fill(third, std::byte{0xee});
      ASSERT_TRUE(me.wait_implicit());
      ASSERT_TRUE(me.barrier());
      ASSERT_TRUE(holds(me.segment().first(bytes), pattern(round, bytes)));
      ASSERT_TRUE(holds(me.segment().subspan(10'000, bytes), pattern(1000 + round, bytes)));
      ASSERT_TRUE(holds(me.segment().subspan(20'000, bytes), pattern(2000 + round, bytes)));
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(Order, WrongCallsAreRefused) {
  as_each_of(2, 4096, [](Endpoint& me) {
    EXPECT_EQ(fence(me, me.ranks()).code(), ErrorCode::out_of_range);
    EXPECT_EQ(fence(me, kNoRank).code(), ErrorCode::out_of_range);
    EXPECT_TRUE(fence(me, me.rank()));
    ErrorCode inside = ErrorCode::ok;
    bool ran = false;
    const auto tries = on_short_request<Number>(me, [&](auto&, const Number&) {
      inside = fence(me).code();
      ran = true;
    });
    ASSERT_TRUE(tries);
    ASSERT_TRUE(me.barrier());
    ASSERT_TRUE(request(me, next(me), *tries, {1}));
    ASSERT_TRUE(progress_until(me, [&] { return ran; }));
    EXPECT_EQ(inside, ErrorCode::in_handler);
    ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{next(me), 0}, std::span<const std::byte>{}));
    ASSERT_TRUE(fence(me));
    EXPECT_EQ(put_value(me, GlobalPtr<std::uint64_t>{next(me), 4096}, 1).code(), ErrorCode::out_of_range);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Order, ALonelyRankNeedsNoOrder) {
  as_each_of(1, 4096, [](Endpoint& me) {
    ASSERT_TRUE(put_value(me, GlobalPtr<std::uint64_t>{0, 0}, 1));
    ASSERT_TRUE(fence(me));
    ASSERT_TRUE(signal(me, 0, {0, 1}));
    EXPECT_EQ(signal_value(me, 0), 1u);
    EXPECT_EQ(word_at(me, 0), 1u);
  });
}

TEST_P(Order, WhatAFenceHoldsBackEndsWithTheLossOfItsTarget) {
  if (!fabric().process_each()) GTEST_SKIP() << "a rank of a shared process cannot die alone";
  run({.ranks = 3, .segment_bytes = 64 * 1024, .leaving = {2}}, [](Endpoint& me) {
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 2) {
      ASSERT_TRUE(wait_until(me, 30, 2, kAnyRank, seconds(10)));
      std::raise(SIGKILL);
    }
    static_cast<void>(signal(me, 2, {30, 1}));  // it may die before it has answered
    const auto block = pattern(me.rank(), 30'000);
    const auto end = std::chrono::steady_clock::now() + seconds(10);
    std::vector<Event> events;
    while (!me.is_lost(2) && std::chrono::steady_clock::now() < end) {
      if (events.size() < 200) {
        events.push_back(put_nb(me, GlobalPtr<std::byte>{2, 0}, block));
        ASSERT_TRUE(fence(me, 2));
        events.push_back(atomic_nb<AtomicOp::add>(me, GlobalPtr<std::uint64_t>{2, 40'000}, 1));
        ASSERT_TRUE(fence(me, 2));
      }
      me.progress();
    }
    ASSERT_TRUE(me.is_lost(2));
    for (Event& event : events) {
      const Status status = me.wait_for(event, seconds(5));
      ASSERT_TRUE(status.ok() || status.code() == ErrorCode::peer_lost) << status.text();
    }
    ASSERT_TRUE(fence(me)) << "a fence behind a lost rank";
    const Rank other = 1 - me.rank();
    ASSERT_TRUE(put_nbi(me, GlobalPtr<std::byte>{other, 0}, block));
    ASSERT_TRUE(fence(me, other));
    ASSERT_TRUE(signal(me, other, {31, 1}));
    ASSERT_TRUE(wait_until(me, 31, 1, other, seconds(10)));
    EXPECT_TRUE(holds(me.segment().first(block.size()), pattern(other, block.size())));
    ASSERT_TRUE(me.wait_implicit().ok());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Order, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
