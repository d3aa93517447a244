#include <aqueduct/continuation.hpp>

#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/support/forked.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>

namespace aqueduct::conformance {
namespace {

class Continuation : public FabricTest {};

// P-11.
TEST_P(Continuation, RunsOnceInALaterRoundOfProgressWithTheOutcome) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 50'000);
    struct Seen {
      int times = 0;
      Status outcome{ErrorCode::internal};
    } good, bad, none;
    const auto note = [](Seen& seen) {
      return [&seen](Status outcome) {
        ++seen.times;
        seen.outcome = outcome;
      };
    };
    Event put = put_nb(me, GlobalPtr<std::byte>{next(me), 0}, sent);
    ASSERT_TRUE(put.then(me, note(good)));
    EXPECT_TRUE(put.done()) << "the Event is given up";
    ASSERT_TRUE(put_nb(me, GlobalPtr<std::byte>{next(me), 64'000}, sent).then(me, note(bad)));
    ASSERT_TRUE(Event().then(me, note(none)));
    EXPECT_EQ(good.times + bad.times + none.times, 0) << "never inside the call";
    ASSERT_TRUE(progress_until(me, [&] { return good.times != 0 && bad.times != 0 && none.times != 0; }));
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(good.times + bad.times + none.times, 3);
    EXPECT_TRUE(good.outcome);
    EXPECT_EQ(bad.outcome.code(), ErrorCode::out_of_range);
    EXPECT_TRUE(none.outcome);
    EXPECT_TRUE(holds(me.segment().first(50'000), pattern(previous(me), 50'000)));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Continuation, OfAFinishedEventRunsInAWaitToo) {
  as_each_of(1, 64, [](Endpoint& me) {
    bool ran = false;
    ASSERT_TRUE(Event().then(me, [&ran](Status) { ran = true; }));
    EXPECT_FALSE(ran);
    me.progress();
    EXPECT_TRUE(ran);
  });
}

/// Reads a chain of places, each of which names the next one.
struct Chain {
  Endpoint& me;
  std::uint64_t at = 0;
  std::uint64_t hops = 0;
  Status failed{};

  void go_on() {
    Event event = get_nb(me, std::span(&at, 1), GlobalPtr<std::uint64_t>{next(me), at});
    const Status taken = event.then(me, [this](Status outcome) {
      if (!outcome) failed = outcome;
      if (++hops != 100 && outcome) go_on();
    });
    if (!taken) failed = taken;
  }
};

TEST_P(Continuation, BeginsTheNextOperation) {
  as_each_of(2, 8 * 64, [](Endpoint& me) {
    // Word i names word (7 i + 3) mod 64.
    for (std::uint64_t i = 0; i < 64; ++i) {
      const std::uint64_t to = (7 * i + 3) % 64 * 8;
      std::memcpy(me.segment().data() + i * 8, &to, 8);
    }
    ASSERT_TRUE(me.barrier());
    std::uint64_t expected = 0;
    for (int hop = 0; hop < 100; ++hop) expected = (7 * expected + 3) % 64;
    Chain chain{me};
    chain.go_on();
    ASSERT_TRUE(progress_until(me, [&] { return chain.hops == 100 || !chain.failed; }));
    EXPECT_TRUE(chain.failed) << chain.failed.text();
    EXPECT_EQ(chain.at, expected * 8);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Continuation, MayBlockForItsOwnOperationsAndWaitForNothingElse) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    struct Seen {
      Endpoint& me;
      std::vector<std::byte> sent;
      Event event{};
      Group group{me};
      Status named{}, grouped{}, barrier{}, implicit{}, signalled{}, region{}, inner{}, put{}, added{};
      bool in_handler = false, inner_ran = false, inner_ran_inside = true, done = false;
    } seen{me, pattern(me.rank(), 40'000)};
    const GlobalPtr<std::byte> there{next(me), 0};
    // Large: still in flight when the continuation runs, unless the memory is mapped.
    ASSERT_TRUE(Event().then(me, [&seen, there](Status) {
      Endpoint& ep = seen.me;
      seen.in_handler = ep.in_handler();
      seen.event = put_nb(ep, there, seen.sent);
      seen.named = seen.event.done() ? Status(ErrorCode::in_handler) : ep.wait(seen.event);
      static_cast<void>(put_nbi(ep, there, seen.sent, {.group = &seen.group}));
      seen.grouped = seen.group.done() ? Status(ErrorCode::in_handler) : seen.group.wait();
      seen.barrier = ep.barrier();
      seen.signalled = wait_until(ep, 5, 1);
      seen.region = ep.begin_region();
      seen.inner = Event().then(ep, [&seen](Status) { seen.inner_ran = true; });
      seen.put = put(ep, there + 40'000, std::span(seen.sent).first(8));
      seen.added = fetch_add(ep, GlobalPtr<std::uint64_t>{next(ep), 50'000}, 1).status();
      seen.inner_ran_inside = seen.inner_ran;
      seen.done = true;
    }));
    ASSERT_TRUE(progress_until(me, [&] { return seen.done && seen.inner_ran; }));
    EXPECT_TRUE(seen.in_handler);
    EXPECT_FALSE(me.in_handler());
    for (const Status& refused : {seen.named, seen.grouped, seen.barrier, seen.signalled, seen.region}) {
      EXPECT_EQ(refused.code(), ErrorCode::in_handler);
    }
    EXPECT_TRUE(seen.inner);
    EXPECT_TRUE(seen.put) << seen.put.text();
    EXPECT_TRUE(seen.added) << seen.added.text();
    EXPECT_FALSE(seen.inner_ran_inside) << "continuations run one after the other";
    EXPECT_TRUE(me.wait(seen.event));
    EXPECT_TRUE(seen.group.wait());
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment().first(40'000), pattern(previous(me), 40'000)));
    EXPECT_EQ(*load(me, GlobalPtr<std::uint64_t>{me.rank(), 50'000}), 1u);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Continuation, DoesNotJoinTheOpenRegion) {
  as_each_of(2, 64 * 1024, [](Endpoint& me) {
    const auto sent = pattern(me.rank(), 30'000);
    struct Made {
      Endpoint& me;
      std::span<const std::byte> sent;
      Status put{ErrorCode::internal};
    } made{me, sent};
    ASSERT_TRUE(me.begin_region());
    ASSERT_TRUE(Event().then(me, [&made](Status) {
      made.put = put_nbi(made.me, GlobalPtr<std::byte>{next(made.me), 0}, made.sent);
    }));
    me.progress();
    Event region = me.end_region();
    EXPECT_TRUE(region.done()) << "nothing joined it";
    EXPECT_TRUE(me.wait(region));
    EXPECT_TRUE(made.put) << made.put.text();
    ASSERT_TRUE(me.wait_implicit());
    ASSERT_TRUE(me.barrier());
    EXPECT_TRUE(holds(me.segment().first(30'000), pattern(previous(me), 30'000)));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Continuation, IsRefusedWhileTheRecordsAreTaken) {
  run({.ranks = 2, .segment_bytes = 64 * 1024, .settings = {{"operations", "16"}}}, [](Endpoint& me) {
    int ran = 0;
    std::vector<Status> taken;
    for (int i = 0; i < 40; ++i) taken.push_back(Event().then(me, [&ran](Status) { ++ran; }));
    const auto accepted = std::ranges::count_if(taken, [](const Status& s) { return s.ok(); });
    EXPECT_EQ(taken.front(), Status());
    EXPECT_EQ(taken.back().code(), ErrorCode::refused);
    ASSERT_TRUE(progress_until(me, [&] { return ran == accepted; })) << ran << " of " << accepted;
    EXPECT_TRUE(Event().then(me, [&ran](Status) { ++ran; })) << "the records are free again";
    me.progress();
    ASSERT_TRUE(me.barrier());
  });
}

// The large put has its turn only when a record for its source is free. A fence must not wait for it, since it may be
// what the continuation's own put needs.
TEST_P(Continuation, MayFenceWhileAPutWaitsForARecord) {
  constexpr std::size_t kRecords = 16;
  run({.ranks = 2, .segment_bytes = 64 * 1024, .settings = {{"operations", "16"}}}, [](Endpoint& me) {
    const std::size_t bytes = reasonable(me, 16'000);
    const auto large = pattern(me.rank(), bytes);
    const auto small = pattern(10 + me.rank(), 16 * kRecords);
    const GlobalPtr<std::byte> there{next(me), 0};
    for (std::uint64_t round = 1; round <= 20; ++round) {
      struct Fenced {
        Endpoint& me;
        std::uint64_t value;
        Status fence{}, put{};
        bool done = false;
      } fenced{me, round};
      ASSERT_TRUE(Event().then(me, [&fenced](Status) {
        fenced.fence = fence(fenced.me, next(fenced.me));
        fenced.put = put_value(fenced.me, GlobalPtr<std::uint64_t>{next(fenced.me), 40'000}, fenced.value);
        fenced.done = true;
      }));
      for (std::size_t i = 0; i < kRecords; ++i) {
        ASSERT_TRUE(put_nbi(me, there + static_cast<std::int64_t>(32'000 + 16 * i),
                            std::span(small).subspan(16 * i, 16)));
      }
      Event event = put_nb(me, there, large, {.source = SourceReuse::at_return});
      ASSERT_TRUE(me.wait(event));
      ASSERT_TRUE(progress_until(me, [&] { return fenced.done; }));
      ASSERT_TRUE(fenced.fence);
      ASSERT_TRUE(fenced.put) << fenced.put.text();
      ASSERT_TRUE(me.wait_implicit());
      ASSERT_TRUE(me.barrier());
      const GlobalPtr<std::uint64_t> mine{me.rank(), 40'000};
      ASSERT_EQ(*me.local(mine), round);
      ASSERT_TRUE(holds(me.segment().first(bytes), pattern(previous(me), bytes)));
      ASSERT_TRUE(
          holds(me.segment().subspan(32'000, small.size()), pattern(10 + previous(me), small.size())));
      ASSERT_TRUE(me.barrier());
    }
  });
}

TEST_P(Continuation, LearnsOfALostPeer) {
  if (!fabric().process_each()) GTEST_SKIP() << "a rank of a shared process cannot die alone";
  run({.ranks = 3, .segment_bytes = 64 * 1024, .leaving = {2}}, [](Endpoint& me) {
    constexpr Rank kLeaving = 2;
    ASSERT_TRUE(me.barrier());
    if (me.rank() == kLeaving) {
      ASSERT_TRUE(wait_until(me, 3, 2, kAnyRank, std::chrono::seconds(10)));
      std::raise(SIGKILL);
    }
    static_cast<void>(signal(me, kLeaving, {3, 1}));
    std::vector<std::byte> read(3000);
    struct Gets {
      std::uint64_t begun = 0;
      std::uint64_t over = 0;
    } gets;
    ASSERT_TRUE(progress_until(me, [&] {
      if (gets.begun - gets.over < 8) {
        Event event = get_nb(me, read, GlobalPtr<std::byte>{kLeaving, 0});
        if (event.then(me, [&gets](Status outcome) {
              ++gets.over;
              EXPECT_TRUE(outcome || outcome.code() == ErrorCode::peer_lost) << outcome.text();
            }))
          ++gets.begun;
      }
      return me.is_lost(kLeaving);
    }));
    EXPECT_TRUE(progress_until(me, [&] { return gets.over == gets.begun; }))
        << gets.over << " of " << gets.begun << " continuations have run";
    const Rank other = 1 - me.rank();
    ASSERT_TRUE(signal(me, other, {4, 1}));
    ASSERT_TRUE(wait_until(me, 4, 1, other, std::chrono::seconds(10)));
  });
}

TEST_P(Continuation, IsRefusedInAForkedChild) {
  as_each_of(1, 64, [](Endpoint& me) {
    EXPECT_EQ(support::in_a_child([&] {
                const Status taken = Event().then(me, [](Status) { ::_exit(2); });
                me.progress();
                return taken.code() == ErrorCode::invalid_argument ? 0 : 1;
              }),
              0);
  });
}

INSTANTIATE_TEST_SUITE_P(On, Continuation, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
