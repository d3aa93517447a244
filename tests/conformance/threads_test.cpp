#include <aqueduct/continuation.hpp>
#include <aqueduct/coroutine.hpp>
#include <aqueduct/segment.hpp>

#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/several_threads.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace aqueduct::conformance {
namespace {

using std::chrono::seconds;

constexpr std::size_t kThreads = 3;

/// Several threads of each rank use its endpoint at once.
class ThreadsOfARank : public SeveralThreads {};

std::uint64_t writer_of(const Endpoint& me, std::size_t thread, std::uint64_t round) {
  return (std::uint64_t{me.rank()} * kThreads + thread) * 1000 + round;
}

TEST_P(ThreadsOfARank, FindTheirModeInTheEndpoint) {
  as_each_of(2, 64, [](Endpoint& me) { EXPECT_EQ(me.threads(), Threads::multiple); });
}

TEST_P(ThreadsOfARank, PutGetAndWaitAtOnce) {
  constexpr std::size_t kBytes = 3000;
  as_each_of(2, kThreads * kBytes, [](Endpoint& me) {
    on_threads(kThreads, [&](std::size_t t) {
      const GlobalPtr<std::byte> mine{next(me), t * kBytes};
      for (std::uint64_t round = 0; round < 10; ++round) {
        const auto sent = pattern(writer_of(me, t, round), kBytes);
        std::array<Event, 10> events;
        for (std::size_t i = 0; i < events.size(); ++i) {
          events[i] =
              put_nb(me, mine + static_cast<std::int64_t>(300 * i), std::span(sent).subspan(300 * i, 300));
        }
        for (Event& event : events) ASSERT_TRUE(me.wait(event));
        std::vector<std::byte> back(kBytes);
        ASSERT_TRUE(get(me, std::span(back), mine));
        ASSERT_TRUE(holds(back, sent)) << "thread " << t << ", round " << round;
      }
    });
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ThreadsOfARank, AddToOneWordWithoutLosingAny) {
  constexpr std::uint64_t kEach = 60;
  as_each_of(3, 64, [](Endpoint& me) {
    on_threads(kThreads, [&](std::size_t) {
      const GlobalPtr<std::uint64_t> word{0, 0};
      for (std::uint64_t i = 0; i < kEach; ++i) ASSERT_TRUE(fetch_add(me, word, 1));
    });
    ASSERT_TRUE(me.barrier());
    const auto sum = load(me, GlobalPtr<std::uint64_t>{0, 0});
    ASSERT_TRUE(sum);
    EXPECT_EQ(*sum, kEach * kThreads * me.ranks());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ThreadsOfARank, MeetInBarriersOfDifferentTeams) {
  as_each_of(3, 64, [](Endpoint& me) {
    std::vector<Team> teams;
    for (std::size_t t = 0; t < kThreads; ++t) {
      auto made = me.world().split(0, me.rank());
      ASSERT_TRUE(made && made->has_value());
      teams.push_back(std::move(**made));
    }
    on_threads(kThreads, [&](std::size_t t) {
      for (std::uint64_t round = 1; round <= 10; ++round) {
        ASSERT_TRUE(put_value(me, GlobalPtr<std::uint64_t>{next(me), 8 * t}, round));
        ASSERT_TRUE(teams[t].barrier());
        EXPECT_EQ(*me.local(GlobalPtr<std::uint64_t>{me.rank(), 8 * t}), round) << "thread " << t;
        ASSERT_TRUE(teams[t].barrier());
      }
    });
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ThreadsOfARank, SendMessagesThatAreHandledOnceAndOneAtATime) {
  constexpr int kEach = 300;
  struct Counts {
    std::atomic<int> requests{0}, replies{0}, inside{0};
    std::atomic<bool> together{false}, elsewhere{false};
  };
  as_each_of(2, 64, [](Endpoint& me) {
    Counts counts;
    const auto replied =
        on_short_reply<NoArguments>(me, [&](auto&, const NoArguments&) { ++counts.replies; });
    ASSERT_TRUE(replied);
    const auto asked = on_short_request<NoArguments>(me, [&](auto& context, const NoArguments&) {
      if (counts.inside.fetch_add(1) != 0) counts.together = true;
      if (!me.in_handler()) counts.elsewhere = true;
      EXPECT_TRUE(context.reply(*replied));
      ++counts.requests;
      counts.inside.fetch_sub(1);
    });
    ASSERT_TRUE(asked);
    ASSERT_TRUE(me.barrier());
    on_threads(kThreads, [&](std::size_t) {
      for (int i = 0; i < kEach; ++i) {
        ASSERT_TRUE(request(me, next(me), *asked));
        if (me.in_handler()) counts.elsewhere = true;
      }
      while (counts.replies < kEach * static_cast<int>(kThreads) && !me.is_lost(next(me))) me.progress();
    });
    ASSERT_TRUE(me.barrier());  // all requests were answered, so all were handled
    EXPECT_EQ(counts.requests, kEach * static_cast<int>(kThreads));
    EXPECT_EQ(counts.replies, kEach * static_cast<int>(kThreads));
    EXPECT_FALSE(counts.together) << "two handlers ran at once";
    EXPECT_FALSE(counts.elsewhere) << "in_handler() did not speak of its own thread";
  });
}

TEST_P(ThreadsOfARank, WaitForEventsThatAnotherThreadHasMade) {
  constexpr std::uint64_t kPuts = 100;
  as_each_of(2, 8 * kPuts, [](Endpoint& me) {
    std::mutex mutex;
    std::deque<Event> made;
    std::vector<std::uint64_t> values(kPuts);
    on_threads(2, [&](std::size_t t) {
      if (t == 0) {
        for (std::uint64_t i = 0; i < kPuts; ++i) {
          values[i] = writer_of(me, 0, i);
          Event event = put_nb(me, GlobalPtr<std::uint64_t>{next(me), 8 * i},
                               std::span<const std::uint64_t>(&values[i], 1));
          const std::lock_guard lock(mutex);
          made.push_back(std::move(event));
        }
        return;
      }
      for (std::uint64_t waited = 0; waited < kPuts;) {
        std::optional<Event> event;
        {
          const std::lock_guard lock(mutex);
          if (!made.empty()) {
            event = std::move(made.front());
            made.pop_front();
          }
        }
        if (!event) {
          std::this_thread::yield();
          continue;
        }
        EXPECT_TRUE(me.wait(*event)) << "put " << waited;
        ++waited;
      }
    });
    ASSERT_TRUE(me.barrier());
    for (std::uint64_t i = 0; i < kPuts; ++i) {
      const auto* const word = me.local(GlobalPtr<std::uint64_t>{me.rank(), 8 * i});
      EXPECT_EQ(*word, std::uint64_t{previous(me)} * kThreads * 1000 + i);
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ThreadsOfARank, CommunicateWhileOthersWait) {
  constexpr std::uint64_t kSignals = 50;
  as_each_of(2, 4096, [](Endpoint& me) {
    on_threads(kThreads, [&](std::size_t t) {
      if (t == 0) {  // puts, then announces each to the other rank's waiting threads
        for (std::uint64_t i = 1; i <= kSignals; ++i) {
          const auto sent = pattern(i, 512);
          ASSERT_TRUE(put(me, GlobalPtr<std::byte>{next(me), 0}, sent));
          ASSERT_TRUE(signal(me, next(me), {1, 1}));
          ASSERT_TRUE(signal(me, next(me), {2, 1}));
        }
      } else {
        for (std::uint64_t i = 1; i <= kSignals; ++i)
          ASSERT_TRUE(wait_until(me, static_cast<SignalSlot>(t), i, previous(me), seconds(30)));
      }
    });
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ThreadsOfARank, SignalEachOtherThroughTheirOwnRank) {
  as_each_of(2, 64, [](Endpoint& me) {
    on_threads(2, [&](std::size_t t) {
      for (std::uint64_t round = 1; round <= 10; ++round) {
        const auto own = static_cast<SignalSlot>(t);
        const auto others = static_cast<SignalSlot>(1 - t);
        if (t == 0) {
          ASSERT_TRUE(signal(me, me.rank(), {others, 1}));
        }
        ASSERT_TRUE(wait_until(me, own, round, me.rank(), seconds(30)));
        if (t == 1) {
          ASSERT_TRUE(signal(me, me.rank(), {others, 1}));
        }
      }
    });
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ThreadsOfARank, ShareTheImplicitGroup) {
  constexpr std::size_t kWords = 40;
  as_each_of(2, 8 * kWords * kThreads, [](Endpoint& me) {
    std::vector<std::uint64_t> values(kWords * kThreads);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = writer_of(me, 0, i);
    on_threads(kThreads, [&](std::size_t t) {
      for (std::size_t i = t * kWords; i < (t + 1) * kWords; ++i) {
        ASSERT_TRUE(put_nbi(me, GlobalPtr<std::uint64_t>{next(me), 8 * i},
                            std::span<const std::uint64_t>(&values[i], 1)));
      }
      ASSERT_TRUE(me.wait_implicit());  // its own are among those for which it waits
      std::vector<std::uint64_t> back(kWords);
      ASSERT_TRUE(get(me, std::span(back), GlobalPtr<std::uint64_t>{next(me), 8 * kWords * t}));
      for (std::size_t i = 0; i < kWords; ++i) EXPECT_EQ(back[i], values[t * kWords + i]) << "word " << i;
    });
    ASSERT_TRUE(me.barrier());
  });
}

/// Continuations and the beginnings of tasks, which run one after the other: each waits for a put of its own.
struct OneAfterTheOther {
  Endpoint& me;
  std::atomic<int> inside{0};
  std::atomic<bool> together{false};

  Status put_alone(GlobalPtr<std::byte> there, std::span<const std::byte> sent) {
    if (inside.fetch_add(1) != 0) together = true;
    const Status status = put(me, there, sent);
    inside.fetch_sub(1);
    return status;
  }
};

Task<> put_then_get(OneAfterTheOther& all, GlobalPtr<std::byte> there, std::span<const std::byte> sent,
                    Status& outcome) {
  outcome = all.put_alone(there, sent);
  std::vector<std::byte> back(sent.size());
  const Status got = co_await get_nb(all.me, std::span(back), there);
  if (outcome) outcome = got;
  if (outcome && !std::ranges::equal(back, sent)) outcome = ErrorCode::internal;
}

// While a continuation waits for its own put, the other threads find the region as they have left it.
TEST_P(ThreadsOfARank, OpenRegionsBesideContinuationsAndTasks) {
  constexpr std::size_t kBytes = 3000;
  constexpr int kRounds = 30;
  as_each_of(2, kThreads * kBytes, [](Endpoint& me) {
    std::array<std::vector<std::byte>, kThreads> sent;
    for (std::size_t t = 0; t < kThreads; ++t) sent[t] = pattern(writer_of(me, t, 0), kBytes);
    OneAfterTheOther all{me};
    on_threads(kThreads, [&](std::size_t t) {
      const GlobalPtr<std::byte> there{next(me), t * kBytes};
      for (int round = 0; round < kRounds; ++round) {
        Status status;
        if (t == 0) {
          ASSERT_TRUE(me.begin_region());
          status = put_nbi(me, there, sent[t]);
          Event region = me.end_region();
          ASSERT_TRUE(me.wait(region));
        } else if (t == 1) {
          std::atomic<bool> ran{false};
          ASSERT_TRUE(Event().then(me, [&](Status) {
            status = all.put_alone(there, sent[t]);
            ran = true;
          }));
          ASSERT_TRUE(progress_until(me, [&] { return ran.load(); }));
        } else {
          ASSERT_TRUE(aqueduct::run(me, put_then_get(all, there, sent[t], status)));
        }
        ASSERT_TRUE(status) << status.text();
      }
    });
    EXPECT_FALSE(all.together) << "two continuations ran at once";
    EXPECT_TRUE(me.begin_region());
    EXPECT_TRUE(me.end_region().status()) << "nothing is in the region";
    bool ran = false;
    ASSERT_TRUE(Event().then(me, [&ran](Status) { ran = true; }));
    EXPECT_TRUE(progress_until(me, [&] { return ran; })) << "continuations do not run any more";
    ASSERT_TRUE(me.barrier());
    for (std::size_t t = 0; t < kThreads; ++t) {
      ASSERT_TRUE(holds(me.segment().subspan(t * kBytes, kBytes),
                        pattern((previous(me) * kThreads + t) * 1000, kBytes)))
          << "thread " << t;
    }
    ASSERT_TRUE(me.barrier());
  });
}

// The segment's windows and keys appear while the other threads look others up.
TEST_P(ThreadsOfARank, PutWhileAnotherMakesAndReleasesSegments) {
  as_each_of(2, 64, [](Endpoint& me) {
    auto team = me.world().split(0, me.rank());
    ASSERT_TRUE(team && team->has_value());
    on_threads(2, [&](std::size_t t) {
      for (std::uint64_t round = 1; round <= 5; ++round) {
        if (t == 1) {
          for (std::uint64_t i = 0; i < 20; ++i)
            ASSERT_TRUE(put_value(me, GlobalPtr<std::uint64_t>{next(me), 0}, round));
          continue;
        }
        auto segment = Segment::create(**team, 4096);
        ASSERT_TRUE(segment);
        ASSERT_TRUE(put_value(me, segment->at<std::uint64_t>(next(me)), round));
        ASSERT_TRUE((*team)->barrier());
        const auto there = get_value(me, segment->at<std::uint64_t>(me.rank()));
        ASSERT_TRUE(there);
        EXPECT_EQ(*there, round);
        ASSERT_TRUE(segment->release());
      }
    });
    ASSERT_TRUE(me.barrier());
  });
}

// A release looks at all teams of the rank, also at one that another thread is making.
TEST_P(ThreadsOfARank, ReleaseSegmentsWhileAnotherMakesTeams) {
  as_each_of(2, 64, [](Endpoint& me) {
    std::vector<Team> teams;
    for (int i = 0; i < 2; ++i) {
      auto team = me.world().dup();
      ASSERT_TRUE(team);
      teams.push_back(std::move(*team));
    }
    on_threads(2, [&](std::size_t t) {
      for (int round = 0; round < 60; ++round) {
        if (t == 0) {
          auto segment = Segment::create(teams[0], 64);
          ASSERT_TRUE(segment);
          ASSERT_TRUE(segment->release());
        } else {
          auto team = teams[1].split(0, me.rank());
          ASSERT_TRUE(team && *team) << team.status().text();
          ASSERT_TRUE((*team)->end());
        }
      }
    });
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(ThreadsOfARank, GetPeerLostFromAllTheirWaits) {
  if (!fabric().process_each()) GTEST_SKIP() << "a rank of a shared process cannot die alone";
  run({.ranks = 3, .segment_bytes = 64, .settings = {{"threads", "multiple"}}, .leaving = {2}},
      [](Endpoint& me) {
        constexpr Rank kGone = 2;
        ASSERT_TRUE(me.barrier());
        if (me.rank() == kGone) {
          ASSERT_TRUE(wait_until(me, 0, 2, kAnyRank, seconds(30)));
          std::raise(SIGKILL);
        }
        on_threads(kThreads, [&](std::size_t t) {
          if (t == 0) {
            static_cast<void>(signal(me, kGone, {0, 1}));  // it may die before it has answered
            EXPECT_EQ(me.barrier().code(), ErrorCode::peer_lost);
          } else {
            const Rank from = t == 1 ? kGone : kAnyRank;
            EXPECT_EQ(wait_until(me, static_cast<SignalSlot>(t), 1, from, seconds(30)).code(),
                      ErrorCode::peer_lost)
                << "thread " << t;
          }
        });
        EXPECT_TRUE(me.is_lost(kGone));
      });
}

INSTANTIATE_TEST_SUITE_P(On, ThreadsOfARank, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
