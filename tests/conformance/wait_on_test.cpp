#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <csignal>

namespace aqueduct::conformance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using SteadyClock = std::chrono::steady_clock;

class WaitOn : public FabricTest {};

struct ArrivalPing {
  std::uint32_t number;
};

GlobalPtr<std::uint64_t> waited_word(Rank rank, std::uint64_t index) {
  return {rank, index * sizeof(std::uint64_t)};
}

/// Makes no progress and does not communicate for a while, so that the other rank falls asleep in its wait.
void let_the_other_sleep(milliseconds time) {
  const auto end = SteadyClock::now() + time;
  idle_until([&] { return SteadyClock::now() > end; }, seconds(5));
}

TEST_P(WaitOn, EndsWhenANeighbourPutsTheWord) {
  as_each_of(2, 4096, [](Endpoint& me) {
    for (std::uint64_t round = 1; round <= 20; ++round) {
      if (me.rank() == 0) {
        ASSERT_TRUE(put_value(me, waited_word(1, 0), round, {.notify = round % 2 == 0}));
        ASSERT_TRUE(wait_on(me, waited_word(0, 1), Comparison::equal, round, seconds(20), 1));
      } else {
        ASSERT_TRUE(wait_on(me, waited_word(1, 0), Comparison::equal, round, seconds(20), 0));
        ASSERT_TRUE(put_value(me, waited_word(0, 1), round));
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(WaitOn, EndsWhenAnAtomicChangesTheWord) {
  as_each_of(2, 4096, [](Endpoint& me) {
    const GlobalPtr<std::int32_t> mine{me.rank(), 64};
    for (std::int32_t round = 1; round <= 20; ++round) {
      Event event = atomic_nb<AtomicOp::add>(me, mine.on(next(me)), -1, nullptr, {.notify = true});
      ASSERT_TRUE(me.wait(event));
      ASSERT_TRUE(wait_on(me, mine, Comparison::less_equal, -round, seconds(20), previous(me)));
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(*load(me, mine), -20);
  });
}

// M-26, M-27.
TEST_P(WaitOn, ASleeperIsWokenByNotifyAndFindsOtherChangesSoon) {
  as_each_of(2, 4096, [](Endpoint& me) {
    std::uint64_t step = 0;
    for (const bool notify : {true, false}) {
      ++step;
      if (me.rank() == 0) {
        ASSERT_TRUE(me.barrier());
        let_the_other_sleep(milliseconds(20));
        ASSERT_TRUE(put_value(me, waited_word(1, 0), step, {.notify = notify}));
        // The answer comes from the waiter itself, so its time bounds that of the wait.
        const auto since = SteadyClock::now();
        ASSERT_TRUE(wait_on(me, waited_word(0, 1), Comparison::equal, step, seconds(20), 1));
        EXPECT_LT(SteadyClock::now() - since, seconds(2)) << "notify: " << notify;
      } else {
        ASSERT_TRUE(me.barrier());
        ASSERT_TRUE(wait_on(me, waited_word(1, 0), Comparison::equal, step, seconds(20), 0));
        ASSERT_TRUE(put_value(me, waited_word(0, 1), step, {.notify = true}));
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(WaitOn, ComparesAsTheTypeOfTheWordSays) {
  as_each_of(2, 4096, [](Endpoint& me) {
    const GlobalPtr<std::int64_t> wide{me.rank(), 0};
    const GlobalPtr<std::int32_t> narrow{me.rank(), 8};
    ASSERT_TRUE(put_value(me, wide, -5));
    ASSERT_TRUE(put_value(me, narrow, -5));
    const auto holds_now = [&](auto at, Comparison how, auto value) {
      const Status status = wait_on(me, at, how, value, milliseconds(0));
      EXPECT_TRUE(status || status.code() == ErrorCode::timed_out) << status.text();
      const auto tested = test_on(me, at, how, value);
      EXPECT_TRUE(tested && *tested == status.ok());
      return status.ok();
    };
    EXPECT_TRUE(holds_now(wide, Comparison::less, std::int64_t{0}));
    EXPECT_FALSE(holds_now(wide.as<std::uint64_t>(), Comparison::less, std::uint64_t{1} << 63));
    EXPECT_TRUE(holds_now(narrow, Comparison::greater, -6));
    EXPECT_FALSE(holds_now(narrow, Comparison::greater, -5));
    EXPECT_TRUE(holds_now(narrow, Comparison::greater_equal, -5));
    EXPECT_TRUE(holds_now(narrow.as<std::uint32_t>(), Comparison::greater, std::uint32_t{1} << 31));
    EXPECT_TRUE(holds_now(narrow, Comparison::less_equal, -5));
    EXPECT_FALSE(holds_now(narrow, Comparison::not_equal, -5));
    EXPECT_TRUE(holds_now(narrow, Comparison::equal, -5));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(WaitOn, TakesAReferenceToAWordOfMySegment) {
  as_each_of(2, 4096, [](Endpoint& me) {
    auto& mine = *me.local(waited_word(me.rank(), 3));
    Event event = put_value_nb(me, waited_word(next(me), 3), 9, {.notify = true});
    ASSERT_TRUE(me.wait(event));
    ASSERT_TRUE(wait_on(me, mine, Comparison::equal, 9, seconds(20), previous(me)));
    const std::uint64_t elsewhere = 9;
    EXPECT_EQ(wait_on(me, elsewhere, Comparison::equal, 9, seconds(1)).code(), ErrorCode::out_of_range);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(WaitOn, RefusesWhatItCannotWaitFor) {
  as_each_of(2, 4096, [](Endpoint& me) {
    const auto code = [&](GlobalPtr<std::uint64_t> at, Rank from = kNoRank) {
      return wait_on(me, at, Comparison::equal, 0, seconds(1), from).code();
    };
    EXPECT_EQ(code({me.rank(), 4}), ErrorCode::misaligned);
    EXPECT_EQ(code({me.rank(), 4092}), ErrorCode::out_of_range);
    EXPECT_EQ(code({me.rank(), 4096}), ErrorCode::out_of_range);
    EXPECT_EQ(code({me.rank(), 0, 9999}), ErrorCode::out_of_range);
    EXPECT_EQ(code({next(me), 0}), ErrorCode::out_of_range) << "a word of another rank";
    EXPECT_EQ(code({me.rank(), 0}, me.ranks()), ErrorCode::out_of_range) << "waits for no such rank";
    EXPECT_EQ(code({me.rank(), 0}), ErrorCode::ok);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(WaitOn, EndsAtItsLimit) {
  as_each_of(2, 4096, [real_time = !fabric().virtual_time](Endpoint& me) {
    const auto since = SteadyClock::now();
    EXPECT_EQ(wait_on(me, waited_word(me.rank(), 0), Comparison::equal, 1, milliseconds(30)).code(),
              ErrorCode::timed_out);
    if (real_time) {
      EXPECT_GE(SteadyClock::now() - since, milliseconds(30));
    }
    EXPECT_EQ(me.wait_until([] { return false; }, milliseconds(10)).code(), ErrorCode::timed_out);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(WaitOn, WaitUntilTakesAnyCondition) {
  as_each_of(3, 4096, [](Endpoint& me) {
    // A condition over several words: all other ranks have written theirs.
    for (Rank to = 0; to < me.ranks(); ++to) {
      Event event = put_value_nb(me, waited_word(to, me.rank()), 1, {.notify = true});
      ASSERT_TRUE(me.wait(event));
    }
    const auto all = [&] {
      for (Rank from = 0; from < me.ranks(); ++from) {
        const auto there = test_on(me, waited_word(me.rank(), from), Comparison::equal, 1);
        if (!there || !*there) return false;
      }
      return true;
    };
    ASSERT_TRUE(me.wait_until(all, seconds(20)));
    int calls = 0;
    ASSERT_TRUE(me.wait_until([&] { return ++calls == 3; }, seconds(20)));
    EXPECT_EQ(calls, 3) << "called again after it was true";
    EXPECT_EQ(me.wait_until([] { return true; }, seconds(1), me.ranks()).code(), ErrorCode::out_of_range);
    ASSERT_TRUE(me.barrier());
  });
}

// P-2, P-9.
TEST_P(WaitOn, ProgressForEndsAtAnArrival) {
  as_each_of(2, 4096, [](Endpoint& me) {
    int arrived = 0;
    const auto ping = on_short_request<ArrivalPing>(me, [&](auto&, const auto&) { ++arrived; });
    ASSERT_TRUE(ping);
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 0) {
      ASSERT_TRUE(request(me, 1, *ping, {1}));
    } else {
      const auto end = SteadyClock::now() + seconds(20);
      while (arrived == 0 && SteadyClock::now() < end) {
        const Status status = me.progress_for(seconds(20));
        ASSERT_TRUE(status) << status.text();
      }
      EXPECT_EQ(arrived, 1);
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(WaitOn, ForALostRankEndsAndForAnotherRankGoesOn) {
  if (!fabric().process_each()) GTEST_SKIP() << "a rank of a shared process cannot die alone";
  run({.ranks = 3, .segment_bytes = 4096, .leaving = {2}}, [](Endpoint& me) {
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 2) {
      ASSERT_TRUE(wait_on(me, waited_word(2, 0), Comparison::equal, 2, seconds(20)));
      std::raise(SIGKILL);
    }
    // The victim may die before it has answered.
    static_cast<void>(me.wait(atomic_nb<AtomicOp::add>(me, waited_word(2, 0), 1, nullptr, {.notify = true})));
    const auto since = SteadyClock::now();
    const Status status = wait_on(me, waited_word(me.rank(), 0), Comparison::equal, 1, seconds(20), 2);
    EXPECT_EQ(status.code(), ErrorCode::peer_lost) << status.text();
    EXPECT_LT(SteadyClock::now() - since, seconds(2));
    EXPECT_EQ(me.wait_until([] { return false; }, seconds(20), kAnyRank).code(), ErrorCode::peer_lost);
    // A wait that names another rank, or none, goes on.
    const Rank other = 1 - me.rank();
    EXPECT_EQ(wait_on(me, waited_word(me.rank(), 1), Comparison::equal, 1, milliseconds(5), other).code(),
              ErrorCode::timed_out);
    ASSERT_TRUE(put_value(me, waited_word(other, 2), 6, {.notify = true}));
    EXPECT_TRUE(wait_on(me, waited_word(me.rank(), 2), Comparison::equal, 6, seconds(20), other));
    // What holds already counts more than the loss.
    EXPECT_TRUE(wait_on(me, waited_word(me.rank(), 2), Comparison::equal, 6, seconds(20), 2));
    ASSERT_TRUE(put_value(me, waited_word(other, 3), 7, {.notify = true}));
    EXPECT_TRUE(wait_on(me, waited_word(me.rank(), 3), Comparison::equal, 7, seconds(20), other));
  });
}

INSTANTIATE_TEST_SUITE_P(On, WaitOn, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
