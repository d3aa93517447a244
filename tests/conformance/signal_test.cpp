#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

namespace aqueduct::conformance {
namespace {

class Signals : public FabricTest {};

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_P(Signals, WhoSeesTheSumSeesTheBytes) {
  as_each_of(2, 1 << 20, [](Endpoint& me) {
    constexpr SignalSlot kArrived = 3;
    constexpr SignalSlot kChecked = 4;
    std::uint64_t round = 0;
    for (const std::size_t size : sizes_around({least_limits(me).medium}, reasonable(me, 300'000))) {
      ++round;
      const auto sent = pattern(1000 * round + me.rank(), size);
      // Bytes that arrive late would show as those of the round before.
      ASSERT_TRUE(put_signal(me, GlobalPtr<std::byte>{next(me), 5}, sent, {kArrived, 1}));
      ASSERT_TRUE(wait_until(me, kArrived, round, previous(me), seconds(20)));
      ASSERT_TRUE(holds(me.segment().subspan(5, size), pattern(1000 * round + previous(me), size)))
          << size << " bytes";
      ASSERT_TRUE(signal(me, previous(me), {kChecked, 1}));
      ASSERT_TRUE(wait_until(me, kChecked, round, next(me), seconds(20)));
    }
    EXPECT_EQ(signal_value(me, kArrived), round);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Signals, FollowWhatWasPutAndCompletedBefore) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    for (std::uint64_t round = 1; round <= 200; ++round) {
      const std::size_t size = 1 + 317 * round % 60'000;
      const auto sent = pattern(2 * round + me.rank(), size);
      ASSERT_TRUE(put(me, GlobalPtr<std::byte>{next(me), 0}, sent));
      ASSERT_TRUE(signal(me, next(me), {0, 1}));
      ASSERT_TRUE(wait_until(me, 0, round, previous(me), seconds(20)));
      ASSERT_TRUE(holds(me.segment().first(size), pattern(2 * round + previous(me), size)));
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(Signals, OfAllRanksAddUpExactly) {
  as_each_of(4, 4096, [](Endpoint& me) {
    constexpr std::uint64_t kEach = 500;
    std::vector<Event> events;
    for (std::uint64_t i = 1; i <= kEach; ++i) {
      for (Rank to = 0; to < me.ranks(); ++to) events.push_back(signal_nb(me, to, {7, i}));
    }
    for (Event& event : events) ASSERT_TRUE(me.wait(event));
    const std::uint64_t sum = me.ranks() * kEach * (kEach + 1) / 2;
    ASSERT_TRUE(wait_until(me, 7, sum, kAnyRank, seconds(20)));
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(signal_value(me, 7), sum);
    EXPECT_EQ(signal_value(me, 6), 0u);
    EXPECT_EQ(signal_value(me, 8), 0u);
  });
}

TEST_P(Signals, ArePipelinedWithTheirOwnData) {
  as_each_of(2, 512 * 1024, [](Endpoint& me) {
    constexpr std::size_t kPieces = 64;
    constexpr std::size_t kBytes = 5000;
    const auto sent = pattern(me.rank(), kPieces * kBytes);
    std::vector<Event> events;
    for (std::size_t i = 0; i < kPieces; ++i) {
      events.push_back(put_signal_nb(me, GlobalPtr<std::byte>{next(me), i * kBytes},
                                     std::span(sent).subspan(i * kBytes, kBytes),
                                     {static_cast<SignalSlot>(i), 1}));
    }
    const auto expected = pattern(previous(me), kPieces * kBytes);
    for (std::size_t i = 0; i < kPieces; ++i) {
      ASSERT_TRUE(wait_until(me, static_cast<SignalSlot>(i), 1, previous(me), seconds(20)));
      ASSERT_TRUE(
          holds(me.segment().subspan(i * kBytes, kBytes), std::span(expected).subspan(i * kBytes, kBytes)))
          << "piece " << i;
    }
    for (Event& event : events) ASSERT_TRUE(me.wait(event));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Signals, ToMyselfWorkToo) {
  as_each_of(2, 4096, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 4096);
    ASSERT_TRUE(put_signal(me, GlobalPtr<std::byte>{me.rank(), 0}, sent, {1, 5}));
    ASSERT_TRUE(wait_until(me, 1, 5, me.rank(), seconds(20)));
    EXPECT_TRUE(holds(me.segment(), sent));
    ASSERT_TRUE(me.wait(signal_nb(me, me.rank(), {1, 2})));
    EXPECT_EQ(signal_value(me, 1), 7u);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Signals, CanBeResetForTheNextRound) {
  as_each_of(2, 64, [](Endpoint& me) {
    for (int round = 0; round < 20; ++round) {
      ASSERT_TRUE(signal(me, next(me), {2, 3}));
      ASSERT_TRUE(wait_until(me, 2, 3, previous(me), seconds(20)));
      ASSERT_TRUE(reset_signal(me, 2));
      EXPECT_EQ(signal_value(me, 2), 0u);
      ASSERT_TRUE(me.barrier());
    }
    ASSERT_TRUE(reset_signal(me, 2, 40));
    EXPECT_EQ(signal_value(me, 2), 40u);
    EXPECT_TRUE(test_until(me, 2, 40));
    EXPECT_FALSE(test_until(me, 2, 41));
  });
}

TEST_P(Signals, WaitEndsAtItsLimit) {
  as_each_of(2, 64, [real_time = !fabric().virtual_time](Endpoint& me) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(wait_until(me, 9, 1, kAnyRank, milliseconds(30)).code(), ErrorCode::timed_out);
    if (real_time) {
      EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(30));
    }
    EXPECT_EQ(wait_until(me, 9, 1, next(me), milliseconds(0)).code(), ErrorCode::timed_out);
    EXPECT_TRUE(wait_until(me, 9, 0, next(me), milliseconds(0)));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Signals, OutOfRangeAreRefusedAndLeaveTheBytesAlone) {
  const Launch launch{.ranks = 2, .segment_bytes = 64, .settings = {{"signals", "8"}}};
  run(launch, [](Endpoint& me) {
    const auto bytes = pattern(1, 16);
    const GlobalPtr<std::byte> there{next(me), 0};
    EXPECT_TRUE(signal(me, next(me), {7, 1}));
    EXPECT_EQ(signal(me, next(me), {8, 1}).code(), ErrorCode::out_of_range);
    EXPECT_EQ(me.wait(signal_nb(me, me.ranks(), {0, 1})).code(), ErrorCode::out_of_range);
    EXPECT_EQ(put_signal(me, there, bytes, {8, 1}).code(), ErrorCode::out_of_range);
    EXPECT_EQ(put_signal(me, there + 49, bytes, {0, 1}).code(), ErrorCode::out_of_range);
    EXPECT_EQ(put_signal(me, there.on(me.ranks()), bytes, {0, 1}).code(), ErrorCode::out_of_range);
    // Behind the program's counters are those of the collectives, of this rank and of peers: they are out of reach.
    for (const SignalSlot slot : {8u, 9u, 16u, 1000u, 65'543u, 65'544u, 1u << 20, UINT32_MAX}) {
      for (const Rank rank : {me.rank(), next(me)}) {
        EXPECT_EQ(signal(me, rank, {slot, 1}).code(), ErrorCode::out_of_range) << slot;
        EXPECT_EQ(put_signal(me, there.on(rank), bytes, {slot, 1}).code(), ErrorCode::out_of_range) << slot;
        EXPECT_EQ(put_signal_nbi(me, there.on(rank), bytes, {slot, 1}).code(), ErrorCode::out_of_range)
            << slot;
      }
      EXPECT_EQ(wait_until(me, slot, 1, kAnyRank, seconds(1)).code(), ErrorCode::out_of_range) << slot;
      EXPECT_EQ(reset_signal(me, slot).code(), ErrorCode::out_of_range) << slot;
      EXPECT_EQ(signal_value(me, slot), 0u) << slot;
    }
    EXPECT_EQ(wait_until(me, 8, 1, kAnyRank, seconds(1)).code(), ErrorCode::out_of_range);
    EXPECT_EQ(reset_signal(me, 8).code(), ErrorCode::out_of_range);
    EXPECT_EQ(signal_value(me, 8), 0u);
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(signal_value(me, 0), 0u);
    EXPECT_TRUE(all_are(me.segment(), std::byte{0}));
  });
}

INSTANTIATE_TEST_SUITE_P(On, Signals, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
