#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

namespace aqueduct::conformance {
namespace {

/// What a rank may conclude from what another rank has observed.
class Ordering : public FabricTest {};

using std::chrono::seconds;

// M-7.
TEST_P(Ordering, PutsCompletedBeforeABarrierAreSeenByAllAfterIt) {
  as_each_of(3, 64 * 1024, [](Endpoint& me) {
    const std::size_t bytes = reasonable(me, 20'000);
    std::vector<std::byte> read(bytes);
    for (std::uint64_t round = 0; round < 100; ++round) {
      const auto sent = pattern(10 * round + me.rank(), bytes);
      ASSERT_TRUE(put(me, GlobalPtr<std::byte>{next(me), 0}, sent));
      ASSERT_TRUE(me.barrier());
      ASSERT_TRUE(holds(me.segment().first(bytes), pattern(10 * round + previous(me), bytes)));
      // A third rank observes it too.
      ASSERT_TRUE(get(me, read, GlobalPtr<std::byte>{previous(me), 0}));
      const Rank writer = (me.rank() + me.ranks() - 2) % me.ranks();
      ASSERT_TRUE(holds(read, pattern(10 * round + writer, bytes)));
      ASSERT_TRUE(me.barrier());
    }
  });
}

// M-11, M-14.
TEST_P(Ordering, AFlagPutAfterCompletedDataIsSeenAfterTheData) {
  // The message-passing litmus test, with a remote flag that is polled by atomic loads.
  as_each_of(2, 4096, [](Endpoint& me) {
    const GlobalPtr<std::uint64_t> data{1, 0};
    const GlobalPtr<std::uint64_t> flag{1, 2048};
    for (std::uint64_t round = 1; round <= 1000; ++round) {
      if (me.rank() == 0) {
        ASSERT_TRUE(put_value(me, data, mix(round)));
        ASSERT_TRUE(store(me, flag, round));
        const auto acknowledged = [&] {
          const auto seen = load(me, GlobalPtr<std::uint64_t>{0, 0});
          return seen && *seen >= round;
        };
        ASSERT_TRUE(progress_until(me, acknowledged)) << "round " << round;
      } else {
        ASSERT_TRUE(progress_until(me,
                                   [&] {
                                     const auto seen = load(me, flag);
                                     return seen && *seen >= round;
                                   }))
            << "round " << round;
        const auto value = get_value(me, data);
        ASSERT_TRUE(value);
        ASSERT_EQ(*value, mix(round)) << "the flag came before the data, round " << round;
        ASSERT_TRUE(store(me, GlobalPtr<std::uint64_t>{0, 0}, round));
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

// M-7.
TEST_P(Ordering, AMessageSentAfterACompletedPutFindsItsBytes) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    struct Round {
      std::uint64_t number;
      std::uint64_t bytes;
    };
    std::uint64_t seen = 0;
    std::uint64_t acknowledged = 0;
    testing::AssertionResult right = testing::AssertionSuccess();
    const auto reply = on_short_reply<NoArguments>(me, [&](auto&, const NoArguments&) { ++acknowledged; });
    ASSERT_TRUE(reply);
    const auto look = on_short_request<Round>(me, [&](RequestContext& context, const Round& round) {
      ++seen;
      const auto same = holds(me.segment().first(round.bytes), pattern(round.number, round.bytes));
      if (right && !same) right = same;
      static_cast<void>(context.reply(*reply));
    });
    ASSERT_TRUE(look);
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t i = 1; i <= 300; ++i) {
      const std::uint64_t bytes = 1 + mix(i) % reasonable(me, 40'000);
      const auto sent = pattern(2 * i + me.rank(), bytes);
      ASSERT_TRUE(put(me, GlobalPtr<std::byte>{next(me), 0}, sent));
      ASSERT_TRUE(request(me, next(me), *look, {2 * i + me.rank(), bytes}));
      ASSERT_TRUE(progress_until(me, [&] { return acknowledged >= i; }));
    }
    ASSERT_TRUE(progress_until(me, [&] { return seen >= 300; }));
    EXPECT_TRUE(right);
    ASSERT_TRUE(me.barrier());
  });
}

// M-7, M-10.
TEST_P(Ordering, ATokenPassedRoundCarriesEverythingWrittenBeforeIt) {
  // Causality through ranks that never communicated: each adds its mark to a
  // block on rank 0, then signals the next rank.
  as_each_of(4, 4096, [rounds = often(std::uint64_t{100})](Endpoint& me) {
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      if (me.rank() != 0 || round > 1) {
        const std::uint64_t tokens = me.rank() == 0 ? round - 1 : round;
        ASSERT_TRUE(wait_until(me, 0, tokens, previous(me), seconds(20)));
      }
      for (Rank rank = 0; rank < me.ranks(); ++rank) {
        const auto mark = get_value(me, GlobalPtr<std::uint64_t>{0, 8 * rank});
        ASSERT_TRUE(mark);
        ASSERT_EQ(*mark, rank < me.rank() ? round : round - 1) << "the mark of rank " << rank;
      }
      ASSERT_TRUE(put_value(me, GlobalPtr<std::uint64_t>{0, 8 * me.rank()}, round));
      ASSERT_TRUE(signal(me, next(me), {0, 1}));
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Ordering, AGetAfterMyCompletedPutReadsIt) {
  as_each_of(2, 64 * 1024, [seed = seed()](Endpoint& me) {
    Random random(seed + me.rank());
    std::vector<std::byte> read(30'000);
    for (std::uint64_t i = 0; i < 500; ++i) {
      const std::size_t bytes = 1 + random.any_magnitude(14);
      const GlobalPtr<std::byte> there{next(me), random.below(30'000)};
      const auto sent = pattern(i, bytes);
      ASSERT_TRUE(put(me, there, sent));
      ASSERT_TRUE(get(me, std::span(read).first(bytes), there));
      ASSERT_TRUE(holds(std::span(read).first(bytes), sent)) << "turn " << i;
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Ordering, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
