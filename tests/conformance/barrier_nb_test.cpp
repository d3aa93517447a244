#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"
#include "tests/conformance/pattern.hpp"
#include "tests/conformance/shared.hpp"
#include "tests/conformance/victim.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

namespace aqueduct::conformance {
namespace {

class BarriersInFlight : public FabricTest {};

struct FlightBoard {
  std::atomic<std::uint32_t> begun{0};
};
constexpr std::uint32_t kWindowBarriers = 300;
struct WindowBoard {
  std::array<std::atomic<std::uint32_t>, kWindowBarriers> begun{};
};

TEST_P(BarriersInFlight, EndOnlyOnceTheLastHasBegun) {
  Shared<FlightBoard> board;
  as_each_of(3, 64, [&board](Endpoint& me) {
    if (me.rank() == 2) {
      ASSERT_TRUE(idle_until([&] { return board->begun.load() == 2; }));
    }
    Event event = me.world().barrier_nb();
    if (me.rank() != 2) {
      for (int i = 0; i < 300; ++i) ASSERT_FALSE(me.test(event)) << "rank 2 has not begun it";
      board->begun.fetch_add(1);
    }
    ASSERT_TRUE(me.wait(event));
    ASSERT_TRUE(me.barrier());
  });
}

// Each rank leaves another number of them, and the others' processes leave the job while some are in flight.
TEST_P(BarriersInFlight, ThatRanksLeaveLetTheJobFinish) {
  as_each_of(3, 64, [](Endpoint& me) {
    ASSERT_TRUE(me.barrier());
    const std::size_t left = me.rank() == 0 ? Team::kMostBarriers : me.rank();
    for (std::size_t i = 0; i < left; ++i) EXPECT_TRUE(me.world().barrier_nb().then(me, [](Status) {}));
  });
}

// All teams have the most that is allowed in flight at once. In every third one rank gives another value.
TEST_P(BarriersInFlight, OnSeveralTeamsEndInAnyOrderOfWaits) {
  for (const Rank ranks : {Rank{1}, Rank{2}, Rank{5}, many()}) {
    as_each_of(ranks, 64, [](Endpoint& me) {
      auto turned = me.world().split(0, -std::int64_t{me.rank()});
      auto part = me.world().split(me.rank() % 2, me.rank());
      ASSERT_TRUE(turned && *turned && part && *part);
      Team* const teams[] = {&me.world(), &**turned, &**part};
      const auto differs = [](std::uint32_t number, const Team& team) {
        return number % 3 == 2 && team.size() > 1;
      };
      for (int round = 0; round < 3; ++round) {
        std::vector<Event> events[3];
        for (std::uint32_t i = 0; i < Team::kMostBarriers; ++i) {
          for (int t = 0; t < 3; ++t) {
            Team& team = *teams[t];
            const bool other = differs(i, team) && team.index() == i % team.size();
            events[t].push_back(i % 4 == 1 ? team.barrier_nb() : team.barrier_nb(other ? 1000 : i));
          }
        }
        for (int t = 2; t >= 0; --t) {
          for (std::uint32_t i = Team::kMostBarriers; i-- > 0;) {
            // Number 5 gives no value, so nobody differs there.
            const bool wrong = i % 4 != 1 && differs(i, *teams[t]);
            ASSERT_EQ(me.wait(events[t][i]).code(), wrong ? ErrorCode::mismatch : ErrorCode::ok)
                << "barrier " << i << " of team " << t;
          }
        }
      }
      ASSERT_TRUE(me.barrier());
    });
  }
}

// Each rank has a window of barriers in flight, of another size. A barrier ends only once all have begun it, whichever
// the ranks wait for first.
TEST_P(BarriersInFlight, InWindowsNeverEndEarly) {
  Shared<WindowBoard> board;
  as_each_of(std::min<Rank>(many(), 5), 64, [&board, seed = seed()](Endpoint& me) {
    Random random(seed + me.rank());
    Team& world = me.world();
    std::vector<std::pair<std::uint32_t, Event>> flying;
    for (std::uint32_t begun = 0; begun < kWindowBarriers || !flying.empty();) {
      const std::size_t window = 1 + random.below(Team::kMostBarriers);
      while (flying.size() < window && begun < kWindowBarriers) {
        board->begun[begun].fetch_add(1);
        flying.emplace_back(begun, begun % 2 == 0 ? world.barrier_nb(begun) : world.barrier_nb());
        ++begun;
      }
      const std::size_t which = random.below(flying.size());
      auto& [number, event] = flying[which];
      ASSERT_TRUE(me.wait(event)) << "barrier " << number;
      ASSERT_EQ(board->begun[number].load(), me.ranks()) << "barrier " << number << " ended early";
      flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(which));
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(BarriersInFlight, BeyondTheLimitAreRefusedAndNothingElse) {
  Shared<FlightBoard> board;
  as_each_of(2, 64, [&board](Endpoint& me) {
    Team& world = me.world();
    std::vector<Event> events;
    if (me.rank() == 1) {
      ASSERT_TRUE(idle_until([&] { return board->begun.load() == 1; }));
    }
    for (std::size_t i = 0; i < Team::kMostBarriers; ++i) events.push_back(world.barrier_nb());
    if (me.rank() == 0) {
      Event more = world.barrier_nb();
      ASSERT_TRUE(more.done());
      EXPECT_EQ(more.status().code(), ErrorCode::refused);
      EXPECT_EQ(world.notify().code(), ErrorCode::refused);
      EXPECT_EQ(world.wait().code(), ErrorCode::invalid_argument) << "the refused notify has begun nothing";
      board->begun.store(1);
    }
    for (Event& event : events) ASSERT_TRUE(me.wait(event));
    ASSERT_TRUE(me.wait(world.barrier_nb())) << "there is room again";
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(BarriersInFlight, AreOneSequenceWithNotify) {
  as_each_of(3, 64, [](Endpoint& me) {
    Team& world = me.world();
    for (std::uint32_t round = 0; round < 20; ++round) {
      Event first = world.barrier_nb(4 * round);
      ASSERT_TRUE(world.notify(4 * round + (me.rank() == 1 ? 2 : 1)));
      Event second = world.barrier_nb(4 * round + 3);
      // Rank 0 waits for the later one first.
      if (me.rank() == 0) {
        ASSERT_TRUE(me.wait(second));
      }
      ASSERT_EQ(world.wait().code(), ErrorCode::mismatch) << "round " << round;
      ASSERT_TRUE(me.wait(first));
      ASSERT_TRUE(me.wait(second));
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(BarriersInFlight, InAHandlerAreRefused) {
  as_each_of(2, 64, [](Endpoint& me) {
    Status seen;
    const auto handler = on_short_request<NoArguments>(
        me, [&](auto&, const NoArguments&) { seen = me.world().barrier_nb().status(); });
    ASSERT_TRUE(handler && me.barrier());
    ASSERT_TRUE(request(me, next(me), *handler));
    ASSERT_TRUE(progress_until(me, [&] { return !seen.ok(); }));
    EXPECT_EQ(seen.code(), ErrorCode::in_handler);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(BarriersInFlight, WithALostRankEndForAllOthers) {
  if (!fabric().process_each()) GTEST_SKIP() << "a rank of a shared process cannot die alone";
  run({.ranks = 3, .leaving = {2}}, [](Endpoint& me) {
    auto both = me.world().split(me.rank() == 2 ? 1 : 0, 0);
    ASSERT_TRUE(both && *both && me.barrier());
    ASSERT_NO_FATAL_FAILURE(die_if(me, 2));
    std::vector<Event> events;
    for (int i = 0; i < 3; ++i) events.push_back(me.world().barrier_nb());
    for (Event& event : events) {
      ASSERT_EQ(me.wait_for(event, std::chrono::seconds(10)).code(), ErrorCode::peer_lost);
      ASSERT_TRUE(event.done());
    }
    EXPECT_EQ(me.wait(me.world().barrier_nb()).code(), ErrorCode::peer_lost)
        << "begun after the loss is known";
    EXPECT_TRUE(me.wait((*both)->barrier_nb(5))) << "a team without the lost rank";
  });
}

// The barrier of notify was announced before the loss and never ends, unless the program waits for it or begins another
// one.
TEST_P(BarriersInFlight, BegunAfterALossBehindANotifyEnd) {
  if (!fabric().process_each()) GTEST_SKIP() << "a rank of a shared process cannot die alone";
  for (const bool with_event_before : {false, true}) {
    run({.ranks = 3, .leaving = {2}}, [with_event_before](Endpoint& me) {
      constexpr auto kLimit = std::chrono::seconds(10);
      Team& world = me.world();
      auto both = world.split(me.rank() == 2 ? 1 : 0, 0);
      ASSERT_TRUE(both && *both && me.barrier());
      Event before;
      if (me.rank() != 2) {
        if (with_event_before) before = world.barrier_nb();
        ASSERT_TRUE(world.notify());
      }
      ASSERT_NO_FATAL_FAILURE(die_if(me, 2));
      ASSERT_EQ(wait_until(me, 0, 1, 2, kLimit).code(), ErrorCode::peer_lost);
      std::vector<Event> events;
      for (int i = 0; i < 3; ++i) events.push_back(world.barrier_nb());
      for (Event& event : events) {
        ASSERT_EQ(me.wait_for(event, kLimit).code(), ErrorCode::peer_lost);
        ASSERT_TRUE(event.done());
      }
      if (with_event_before) {
        EXPECT_EQ(me.wait_for(before, kLimit).code(), ErrorCode::peer_lost);
      }
      // Not at once: a put of it to the lost rank may still be in the network.
      EXPECT_TRUE(me.wait_until([&] { return world.try_wait(); }, kLimit));
      EXPECT_EQ(world.wait().code(), ErrorCode::peer_lost);
      EXPECT_EQ(world.wait().code(), ErrorCode::invalid_argument) << "it has been waited for";
      EXPECT_EQ(me.barrier().code(), ErrorCode::peer_lost);
      // A team without the lost rank goes on.
      ASSERT_TRUE((*both)->notify(6));
      EXPECT_TRUE(me.wait((*both)->barrier_nb(7)));
      EXPECT_TRUE((*both)->wait());
    });
    if (HasFailure() || testing::Test::IsSkipped()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(On, BarriersInFlight, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
