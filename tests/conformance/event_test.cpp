#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"

#include <algorithm>

namespace aqueduct::conformance {
namespace {

class Events : public FabricTest {};

TEST_P(Events, WaitedForTwiceGiveTheSameOutcome) {
  as_each_of(2, 4096, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 2000);
    Event good = put_nb(me, GlobalPtr<std::byte>{next(me), 0}, sent);
    Event bad = put_nb(me, GlobalPtr<std::byte>{next(me), 4000}, sent);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(me.wait(good));
      EXPECT_TRUE(good.done());
      EXPECT_TRUE(me.test(good));
      EXPECT_EQ(me.wait(bad).code(), ErrorCode::out_of_range);
      EXPECT_EQ(bad.status().code(), ErrorCode::out_of_range);
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Events, ByDefaultAndAfterAMoveAreFinished) {
  as_each_of(2, 4096, [](Endpoint& me) {
    Event none;
    EXPECT_TRUE(none.done());
    EXPECT_TRUE(me.wait(none));
    EXPECT_TRUE(me.wait_for(none, std::chrono::nanoseconds(0)));
    const auto sent = pattern(me.rank(), 4096);
    Event first = put_nb(me, GlobalPtr<std::byte>{next(me), 0}, sent);
    Event second = std::move(first);
    EXPECT_TRUE(first.done());  // NOLINT: the state of a moved-from Event is specified
    EXPECT_TRUE(me.wait(second));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Events, TestedUntilDone) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 64 * 1024);
    Event event = put_nb(me, GlobalPtr<std::byte>{next(me), 0}, sent);
    ASSERT_TRUE(progress_until(me, [&] { return me.test(event); }));
    EXPECT_TRUE(event.status());
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment(), pattern(previous(me), 64 * 1024)));
  });
}

/// Starts `count` gets of different sizes, one of them out of range.
void start_gets(Endpoint& me, EventSet& set, std::vector<std::vector<std::byte>>& read, std::size_t wrong) {
  for (std::size_t i = 0; i < read.size(); ++i) {
    read[i].resize(1 + 700 * i);
    const std::uint64_t from = i == wrong ? 64 * 1024 : 3 * i;
    EXPECT_EQ(set.add(get_nb(me, read[i], GlobalPtr<std::byte>{next(me), from})), i);
  }
}

TEST_P(Events, InASetAreReportedOnceEach) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    std::ranges::copy(pattern(me.rank(), me.segment().size()), me.segment().begin());
    ASSERT_TRUE(me.barrier());
    const auto there = pattern(next(me), me.segment().size());
    constexpr std::size_t kWrong = 20;
    const auto check = [&](EventSet& set, std::vector<std::vector<std::byte>>& read, std::size_t index) {
      ASSERT_TRUE(set[index].done());
      ASSERT_EQ(set[index].status().ok(), index != kWrong);
      if (index != kWrong) {
        ASSERT_TRUE(holds(read[index], std::span(there).subspan(3 * index, read[index].size())));
      }
    };
    std::vector<int> seen;
    std::vector<std::vector<std::byte>> read(40);
    {
      EventSet set;
      start_gets(me, set, read, kWrong);
      seen.assign(40, 0);
      for (std::size_t i = set.wait_any(me); i != set.size(); i = set.wait_any(me)) {
        ++seen[i];
        ASSERT_NO_FATAL_FAILURE(check(set, read, i));
      }
      EXPECT_EQ(std::ranges::count(seen, 1), 40);
    }
    for (const bool waiting : {true, false}) {
      EventSet set;
      start_gets(me, set, read, kWrong);
      seen.assign(40, 0);
      std::size_t all = 0;
      ASSERT_TRUE(progress_until(me, [&] {
        for (const std::size_t i : waiting ? set.wait_some(me) : set.test_some(me)) {
          ++seen[i];
          ++all;
          check(set, read, i);
        }
        return all >= 40;
      })) << all;
      EXPECT_EQ(std::ranges::count(seen, 1), 40);
      EXPECT_TRUE(set.wait_some(me).empty());
      EXPECT_EQ(set.wait_any(me), set.size());
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Events, InASetAreAllWaitedForAndTheFirstFailureIsTold) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    std::ranges::copy(pattern(me.rank(), me.segment().size()), me.segment().begin());
    ASSERT_TRUE(me.barrier());
    const auto there = pattern(next(me), me.segment().size());
    std::vector<std::vector<std::byte>> read(30);
    EventSet set;
    start_gets(me, set, read, 29);
    EXPECT_EQ(set.wait_all(me).code(), ErrorCode::out_of_range);
    EXPECT_TRUE(set.empty());
    for (std::size_t i = 0; i < 29; ++i) {
      ASSERT_TRUE(holds(read[i], std::span(there).subspan(3 * i, read[i].size()))) << "get " << i;
    }
    // Uses the set again, this time with `test`.
    start_gets(me, set, read, 30);
    ASSERT_TRUE(progress_until(me, [&] { return set.test_all(me); }));
    EXPECT_TRUE(set.wait_all(me));
    EventSet none;
    EXPECT_TRUE(none.wait_all(me));
    EXPECT_EQ(none.wait_any(me), 0u);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Events, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
