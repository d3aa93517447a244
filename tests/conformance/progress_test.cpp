// Which calls make progress, and what happens while a rank only computes. The numbers are those of docs/progress.md.

#include <aqueduct/coll.hpp>

#include "tests/conformance/attached.hpp"
#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/shared.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace aqueduct::conformance {
namespace {

using ProgressClock = std::chrono::steady_clock;
constexpr std::chrono::seconds kProgressLimit{20};
constexpr std::size_t kProgressWords = 64;

class Progress : public FabricTest {
 protected:
  /// Runs the body as two ranks; if the conduit has a progress thread, once more without it. The setting of such a
  /// thread is its patience, a duration by the name NAME_progress.
  void with_and_without_thread(const Body& body) {
    const Launch usual{.ranks = 2, .segment_bytes = kProgressWords * sizeof(std::uint64_t)};
    run(usual, body);
    const std::string patience = fabric().conduit + "_progress";
    const Config config;
    const auto settings = config.settings();
    const auto found = std::ranges::find(settings, patience, &SettingInfo::name);
    if (found == settings.end() || found->type != SettingType::duration) return;
    Launch alone = usual;
    alone.settings = {{patience, "0"}};
    run(alone, body);
  }
};

/// The ways to look at one's own word that make progress.
constexpr std::array kLooks = {"load", "get_value", "get", "compare_swap", "fetch_add"};

std::uint64_t look_at(Endpoint& me, GlobalPtr<std::uint64_t> word, std::size_t way) {
  std::uint64_t value = 0;
  switch (way) {
    case 0: return load(me, word).value_or(0);
    case 1: return get_value(me, word).value_or(0);
    case 2: EXPECT_TRUE(get(me, std::span(&value, 1), word)); return value;
    case 3: return compare_swap(me, word, 1000, 1001).value_or(0);
    default: return fetch_add(me, word, 0).value_or(0);
  }
}

/// Calls `seen` again and again, and nothing else; a time limit ends that.
template <class Seen>
bool loops_until(Seen seen) {
  const auto end = ProgressClock::now() + kProgressLimit;
  while (!seen()) {
    if (ProgressClock::now() > end) return false;
  }
  return true;
}

TEST_P(Progress, P5_ALoopOnMyWordEndsByEachCallAlone) {
  with_and_without_thread([](Endpoint& me) {
    const auto attached = attach_memory(me, kProgressWords).as<std::uint64_t>();
    ASSERT_TRUE(me.barrier());
    for (const auto base : {GlobalPtr<std::uint64_t>{0, 0}, attached}) {
      const char* const where = base == attached ? "attached memory" : "the primary segment";
      for (std::size_t way = 0; way < kLooks.size(); ++way) {
        const auto by_put = base + static_cast<std::int64_t>(2 * way);
        const auto by_atomic = by_put + 1;
        if (me.rank() == 1) {
          ASSERT_TRUE(put_value(me, by_put, 1));
          ASSERT_TRUE(store(me, by_atomic, 1));
        } else {
          ASSERT_TRUE(loops_until([&] { return look_at(me, by_put, way) == 1; }))
              << "a put does not arrive while " << kLooks[way] << " looks at " << where;
          ASSERT_TRUE(loops_until([&] { return look_at(me, by_atomic, way) == 1; }))
              << "an atomic does not arrive while " << kLooks[way] << " looks at " << where;
        }
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Progress, P5_ALoopOnMySignalCounterEnds) {
  with_and_without_thread([](Endpoint& me) {
    const std::array word{std::uint64_t{5}};
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t turn = 1; turn <= 10; ++turn) {
      if (me.rank() == 1) {
        if (turn % 2 == 0) {
          ASSERT_TRUE(signal(me, 0, {4, 1}));
        } else {
          ASSERT_TRUE(put_signal(me, GlobalPtr<std::uint64_t>{0, 0}, word, {4, 1}));
        }
      } else if (turn % 3 == 0) {
        ASSERT_TRUE(loops_until([&] { return test_until(me, 4, turn); })) << "test_until, turn " << turn;
      } else {
        ASSERT_TRUE(loops_until([&] { return signal_value(me, 4) >= turn; }))
            << "signal_value, turn " << turn;
      }
    }
    ASSERT_TRUE(me.barrier());
    EXPECT_EQ(signal_value(me, 4), me.rank() == 0 ? 10u : 0u);
    EXPECT_EQ(signal_value(me, 1'000'000), 0u) << "no such counter";
    ASSERT_TRUE(me.barrier());
  });
}

/// Both ranks wait for one another in such a loop: neither may need the other's patience.
TEST_P(Progress, P5_TwoRanksThatLoopOnTheirOwnWordsServeOneAnother) {
  with_and_without_thread([](Endpoint& me) {
    const auto mine = GlobalPtr<std::uint64_t>{me.rank(), 0};
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t turn = 1; turn <= 20; ++turn) {
      if (turn % 2 == 0) {
        ASSERT_TRUE(put_value(me, mine.on(next(me)), turn));
      } else {
        ASSERT_TRUE(store(me, mine.on(next(me)), turn));
      }
      ASSERT_TRUE(loops_until([&] { return get_value(me, mine).value_or(0) >= turn; })) << "turn " << turn;
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Progress, P4_ALoopOnTestEnds) {
  with_and_without_thread([](Endpoint& me) {
    ASSERT_TRUE(me.barrier());
    const auto there = GlobalPtr<std::uint64_t>{next(me), 8};
    for (int turn = 0; turn < 10; ++turn) {
      Event event = turn % 2 == 0 ? put_value_nb(me, there, 3)
                                  : atomic_nb<AtomicOp::add, std::uint64_t>(me, there + 1, 1);
      ASSERT_TRUE(loops_until([&] { return me.test(event); })) << "turn " << turn;
      EXPECT_TRUE(event.status());
      ASSERT_TRUE(put_value_nbi(me, there, 4));
      ASSERT_TRUE(loops_until([&] { return me.test_implicit(); })) << "turn " << turn;
    }
    ASSERT_TRUE(me.barrier());
  });
}

/// A message waits while the rank makes only calls that make no progress, also where a progress thread has taken it.
TEST_P(Progress, P3_P10_HandlersWaitForACallThatMakesProgress) {
  with_and_without_thread([](Endpoint& me) {
    int handled = 0;
    const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) { ++handled; });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 1) {
      ASSERT_TRUE(request(me, 0, *handler));
    } else {
      Event done;
      const auto mine = GlobalPtr<std::uint64_t>{0, 0};
      const auto end = ProgressClock::now() + std::chrono::milliseconds(25);
      const int before = handled;  // the barrier may have run it already
      for (std::uint64_t turn = 1; ProgressClock::now() < end; ++turn) {
        ASSERT_TRUE(put_value(me, mine, turn));
        ASSERT_TRUE(done.done());
        std::uint64_t back = 0;
        ASSERT_TRUE(me.wait(get_nb(me, std::span(&back, 1), mine)));
        ASSERT_EQ(back, turn);
      }
      EXPECT_EQ(handled, before) << "a handler ran outside progress";
      ASSERT_TRUE(progress_until(
          me, [&] { return handled == 1; }, kProgressLimit));
    }
    ASSERT_TRUE(me.barrier());
  });
}

/// What docs/progress.md says of words in the columns of a conduit whose thread serves them.
TEST_P(Progress, P7_WordsArriveAndAreReadWhileTheOwnerOnlyComputes) {
  if (!fabric().serves_aside) return;  // the owner's calls are needed
  as_each_of(2, kProgressWords * sizeof(std::uint64_t), [](Endpoint& me) {
    const auto attached = attach_memory(me, kProgressWords).as<std::uint64_t>();
    ASSERT_TRUE(me.barrier());
    for (const auto base : {GlobalPtr<std::uint64_t>{0, 0}, attached}) {
      const char* const where = base == attached ? "attached memory" : "the primary segment";
      auto* const words = reinterpret_cast<std::uint64_t*>(me.segment_of(base.segment()).data());
      if (me.rank() == 1) {
        const std::uint32_t half = 7;
        ASSERT_TRUE(put(me, GlobalPtr<std::uint32_t>{0, 8, base.segment()}, std::span(&half, 1)));
        const auto back = get_value(me, GlobalPtr<std::uint32_t>{0, 8, base.segment()});
        ASSERT_TRUE(back);
        EXPECT_EQ(*back, 7u) << where;
        ASSERT_TRUE(put_value(me, base, 1));  // comes last: the owner makes calls again then
      } else {
        EXPECT_TRUE(loops_until([&] {
          return std::atomic_ref(words[0]).load(std::memory_order_acquire) == 1;
        })) << "words wait while the owner computes, in "
            << where;
        EXPECT_EQ(std::atomic_ref(words[1]).load(std::memory_order_relaxed), 7u) << where;
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

bool has_turns(const Fabric& fabric) {
  return std::ranges::any_of(fabric.settings,
                             [](const auto& setting) { return setting.first == "loop_seed"; });
}

/// What the ranks of P13 share beside the library.
struct CollectivesOver {
  std::atomic<std::uint32_t> begun{0};
  std::atomic<std::uint32_t> over{0};
};

/// Adds, as a program's operator.
void add_words(void* to, const void* left, const void* right, std::size_t count, void*) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t words[2];
    std::memcpy(&words[0], static_cast<const std::byte*>(left) + i * sizeof words[0], sizeof words[0]);
    std::memcpy(&words[1], static_cast<const std::byte*>(right) + i * sizeof words[1], sizeof words[1]);
    const std::uint64_t sum = words[0] + words[1];
    std::memcpy(static_cast<std::byte*>(to) + i * sizeof sum, &sum, sizeof sum);
  }
}

// Rank 1 begins its part, and makes no call until all calls of all ranks are over. A message that comes meanwhile waits
// for it.
TEST_P(Progress, P13_CollectivesGoOnByTheThreadWhileARankOnlyComputes) {
  if (has_turns(fabric()))
    GTEST_SKIP() << "a turn belongs to one thread, so the rank would compute with the turn";
  const Rank ranks = std::min<Rank>(many(), 4);
  Shared<CollectivesOver> shared;
  run({.ranks = ranks, .segment_bytes = 4096, .settings = {{"coll_progress", "200us"}}}, [&](Endpoint& me) {
    EXPECT_EQ(me.threads(), Threads::multiple);
    ASSERT_TRUE(add_operator(me, 3, {add_words, nullptr, sizeof(std::uint64_t), true}));
    int handled = 0;
    std::thread::id handled_by;
    const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) {
      ++handled;
      handled_by = std::this_thread::get_id();
    });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    constexpr std::size_t kCalls = 12;
    std::array<std::vector<std::uint64_t>, kCalls> words;
    std::vector<Event> events;
    for (std::size_t i = 0; i < kCalls; ++i) {
      words[i].assign(i % 2 == 0 ? 1 : 1000, me.rank() + i);
      const Reducer reducer = i % 3 == 0 ? Reducer::user(3) : Reducer(ReduceOp::sum);
      events.push_back(i % 4 == 3 ? broadcast_nb(me.world(), std::span(words[i]), 0)
                                  : all_reduce_nb(me.world(), std::span(words[i]), reducer));
    }
    ++shared->begun;
    const auto all_done = [&] { return std::ranges::all_of(events, [](Event& one) { return one.done(); }); };
    if (me.rank() == 1) {
      const int before = handled;
      EXPECT_TRUE(loops_until([&] { return shared->over == me.ranks() - 1 && all_done(); }))
          << shared->over << " other ranks are through";
      EXPECT_EQ(handled, before) << "a handler ran while this rank made no call";
    } else {
      // Rank 1 has left the library before it is needed, so the calls are not over by its own.
      ASSERT_TRUE(loops_until([&] { return shared->begun == me.ranks(); }));
      if (me.rank() == 0) {
        ASSERT_TRUE(request(me, 1, *handler));
      }
      EXPECT_TRUE(progress_until(me, all_done, kProgressLimit));
      ++shared->over;
    }
    std::uint64_t sum = 0;
    for (Rank rank = 0; rank < me.ranks(); ++rank) sum += rank;
    for (std::size_t i = 0; i < kCalls; ++i) {
      ASSERT_TRUE(me.wait(events[i])) << "call " << i;
      const std::uint64_t expected = i % 4 == 3 ? i : sum + me.ranks() * i;
      EXPECT_EQ(std::ranges::count(words[i], expected), std::ssize(words[i])) << "call " << i;
    }
    if (me.rank() == 1) {
      ASSERT_TRUE(progress_until(
          me, [&] { return handled == 1; }, kProgressLimit));
      EXPECT_EQ(handled_by, std::this_thread::get_id());
    }
    ASSERT_TRUE(me.barrier());
  });
}

/// A rank that uses the endpoint all the time, beside the thread: calls of every kind, none of which it disturbs.
TEST_P(Progress, P13_TheThreadGivesWayToTheProgram) {
  if (has_turns(fabric())) GTEST_SKIP() << "a turn belongs to one thread";
  const Rank ranks = std::min<Rank>(many(), 4);
  run({.ranks = ranks, .segment_bytes = 4096, .settings = {{"coll_progress", "20us"}}}, [](Endpoint& me) {
    int handled = 0;
    const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) { ++handled; });
    ASSERT_TRUE(handler);
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t turn = 1; turn <= 100; ++turn) {
      std::uint64_t word = turn;
      Event event = all_reduce_nb(me.world(), std::span(&word, 1), ReduceOp::sum);
      ASSERT_TRUE(request(me, next(me), *handler));
      ASSERT_TRUE(put_value(me, GlobalPtr<std::uint64_t>{next(me), 8 * me.rank()}, turn));
      // Away for longer than the thread's patience, so that it is at work in some of the turns. Nothing depends on which.
      if (turn % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
      ASSERT_TRUE(me.wait(event));
      EXPECT_EQ(word, turn * me.ranks());
    }
    ASSERT_TRUE(progress_until(
        me, [&] { return handled == 100; }, kProgressLimit));
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Progress, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
