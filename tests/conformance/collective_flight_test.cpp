#include <aqueduct/signal.hpp>

#include "tests/conformance/collective_trial.hpp"
#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"

#include <deque>
#include <memory>

namespace aqueduct::conformance {
namespace {

/// Many collective operations at once.
class CollectivesInFlight : public FabricTest {};

constexpr std::size_t kFlightTeams = 8;

/// Eight teams of all ranks, or of about half of them, in different orders. This rank is in each.
void make_flight_teams(Endpoint& me, std::vector<Team>& teams) {
  for (std::uint32_t t = 0; t < kFlightTeams; ++t) {
    const std::uint32_t colour = t % 2 == 0 ? 0 : (me.rank() >> (t / 2)) % 2;
    const std::int64_t key = static_cast<std::int64_t>((me.rank() + t) % me.ranks());
    auto team = me.world().split(colour, t % 3 == 0 ? -key : key);
    ASSERT_TRUE(team && *team) << team.status().text();
    teams.push_back(std::move(**team));
  }
}

/// Call `i` of team `t`: the same on all its members.
CollectiveCall flight_call(const Team& team, std::uint64_t t, std::uint64_t i) {
  const std::uint64_t bits = mix(t * 1000 + i);
  const Collective operation = kCollectives[bits % kCollectives.size()];
  return {.operation = operation,
          .count = (bits >> 8) % 7,
          .root = static_cast<Rank>((bits >> 16) % team.size()),
          .in_place = has_place(operation) && (bits >> 24) % 2 == 0,
          .form = CollForm::nb};
}

/// One call in flight, with memory of its own: an input and an output, and what the output is to be.
struct Flight {
  CollectiveCall call;
  std::vector<std::int32_t> in;
  std::vector<std::int32_t> out;
  std::vector<std::int32_t> expected;
  Event event;

  Flight(const Team& team, const CollectiveCall& what, std::uint64_t number)
      : call(what),
        in(call.count * blocks_in(call.operation, team.size())),
        out(call.count * blocks_out(call.operation, team.size())) {
    const Rank me = team.index();
    for (std::uint64_t i = 0; i < in.size(); ++i) in[i] = coll_value<std::int32_t>(number, me, i);
    if (call.in_place && reads(call, me)) {
      const std::uint64_t first = call.operation == Collective::all_gather ? me * call.count : 0;
      std::ranges::copy(in, out.begin() + static_cast<std::ptrdiff_t>(first));
    }
    expected = coll_result<std::int32_t>(
        call, team.size(), me,
        [&](Rank from, std::uint64_t i) { return coll_value<std::int32_t>(number, from, i); },
        [](std::int32_t a, std::int32_t b) { return coll_combined(ReduceOp::sum, a, b); }, out);
  }
  void begin(Team& team) {
    std::span<const std::int32_t> from = in;
    std::span<std::int32_t> to = out;
    event = coll_call<CallsInFlight>(team, call, from, to);
  }
};

TEST_P(CollectivesInFlight, AThousandOnEightTeamsEndInAnyOrder) {
  as_each_of(std::min<Rank>(many(), 5), 4096,
             [seed = seed(), of_each = often(std::uint64_t{125})](Endpoint& me) {
               std::vector<Team> teams;
               ASSERT_NO_FATAL_FAILURE(make_flight_teams(me, teams));
               // Each rank begins and ends them in an order of its own: of each team, all members begin the same sequence.
               Random random(seed + me.rank());
               std::deque<Flight> flights;
               std::array<std::uint64_t, kFlightTeams> begun{};
               while (flights.size() < of_each * kFlightTeams) {
                 const std::size_t t = random.below(kFlightTeams);
                 if (begun[t] == of_each) continue;
                 const std::uint64_t number = t * 1000 + begun[t];
                 Flight& flight = flights.emplace_back(teams[t], flight_call(teams[t], t, begun[t]), number);
                 flight.begin(teams[t]);
                 ++begun[t];
               }
               std::vector<Flight*> order;
               order.reserve(flights.size());
               for (Flight& flight : flights) order.push_back(&flight);
               for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
               for (Flight* flight : order) {
                 const Status status = me.wait(flight->event);
                 ASSERT_TRUE(status) << status.text() << ": " << text_of(flight->call);
                 ASSERT_TRUE(
                     holds(std::as_bytes(std::span(flight->out)), std::as_bytes(std::span(flight->expected))))
                     << text_of(flight->call);
               }
               for (Team& team : teams) ASSERT_TRUE(team.end());
               ASSERT_TRUE(me.barrier());
             });
}

/// A barrier among the calls in flight.
struct FlightBarrier {
  Event event;
  bool differs;  ///< one member gives another value
};

// Barriers and calls of a team are one sequence. Neither holds up the other.
TEST_P(CollectivesInFlight, AmongBarriersEndInAnyOrder) {
  as_each_of(std::min<Rank>(many(), 5), 4096, [seed = seed()](Endpoint& me) {
    std::vector<Team> teams;
    ASSERT_NO_FATAL_FAILURE(make_flight_teams(me, teams));
    Random random(seed + me.rank());
    for (std::uint64_t round = 0; round < 5; ++round) {
      std::deque<Flight> flights;
      std::deque<FlightBarrier> barriers;
      for (std::size_t t = 0; t < kFlightTeams; ++t) {
        Team& team = teams[t];
        std::size_t crossed = 0;
        // The last one is that of notify.
        for (std::uint64_t i = 0; crossed + 1 < Team::kMostBarriers; ++i) {
          const std::uint64_t number = t * 1000 + round * 100 + i;
          if (mix(number) % 3 != 0) {
            flights.emplace_back(team, flight_call(team, t, round * 100 + i), number).begin(team);
            continue;
          }
          const bool differs = mix(number) % 5 == 0 && team.size() > 1;
          const bool other = differs && team.index() == number % team.size();
          const auto value = static_cast<std::uint32_t>(number + (other ? 1 : 0));
          barriers.push_back({team.barrier_nb(value), differs});
          ++crossed;
        }
        ASSERT_TRUE(team.notify(static_cast<std::uint32_t>(round)));
        flights.emplace_back(team, flight_call(team, t, round * 100 + 99), t).begin(team);
      }
      for (std::size_t t = kFlightTeams; t-- > 0;) ASSERT_TRUE(teams[t].wait()) << "team " << t;
      std::vector<Flight*> order;
      order.reserve(flights.size());
      for (Flight& flight : flights) order.push_back(&flight);
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
      for (Flight* flight : order) {
        const Status status = me.wait(flight->event);
        ASSERT_TRUE(status) << status.text() << ": " << text_of(flight->call);
        ASSERT_TRUE(holds(std::as_bytes(std::span(flight->out)), std::as_bytes(std::span(flight->expected))))
            << text_of(flight->call);
      }
      for (FlightBarrier& barrier : barriers)
        ASSERT_EQ(me.wait(barrier.event).code(), barrier.differs ? ErrorCode::mismatch : ErrorCode::ok);
    }
    for (Team& team : teams) ASSERT_TRUE(team.end());
    ASSERT_TRUE(me.barrier());
  });
}

// One rank never waits in the library for the first team while it works on the others.
// P-12.
TEST_P(CollectivesInFlight, OfOneTeamDoNotHoldUpAnother) {
  as_each_of(3, 4096, [](Endpoint& me) {
    auto other = me.world().split(0, me.rank());
    ASSERT_TRUE(other && *other);
    std::uint64_t held = me.rank();
    Event event;
    if (me.rank() != 2) event = all_reduce_nb(me.world(), std::span(&held, 1), ReduceOp::sum);
    for (std::uint64_t i = 0; i < 50; ++i) {
      // Rank 2 is in this loop: it needs the others for the operation below.
      EXPECT_TRUE(me.rank() == 2 || !event.done()) << "rank 2 has not called";
      std::uint64_t sum = i;
      ASSERT_TRUE(all_reduce(**other, std::span(&sum, 1), ReduceOp::sum));
      ASSERT_EQ(sum, 3 * i);
    }
    if (me.rank() == 2) event = all_reduce_nb(me.world(), std::span(&held, 1), ReduceOp::sum);
    ASSERT_TRUE(me.wait(event));
    EXPECT_EQ(held, 3u);
    ASSERT_TRUE((*other)->end());
    ASSERT_TRUE(me.barrier());
  });
}

// A refused call has done nothing, so the same call can be made again; the other members notice nothing.
TEST_P(CollectivesInFlight, BeyondTheLimitAreRefusedAndNothingElse) {
  run({.ranks = 2, .segment_bytes = 4096, .settings = {{"operations", "64"}}}, [](Endpoint& me) {
    constexpr SignalSlot kHeld = 5;
    Team& world = me.world();
    if (me.rank() == 0) {
      std::deque<std::uint64_t> words;
      std::vector<Event> events;
      Status last;
      while (events.size() < 1000) {
        words.push_back(events.size());
        Event event = all_reduce_nb(world, std::span(&words.back(), 1), ReduceOp::sum);
        if (event.done()) {
          last = event.status();
          break;
        }
        events.push_back(std::move(event));
      }
      EXPECT_EQ(last.code(), ErrorCode::refused) << last.text() << " after " << events.size();
      ASSERT_FALSE(events.empty());
      ASSERT_TRUE(signal(me, 1, {kHeld, events.size() + 1}));
      for (std::size_t i = 0; i < events.size(); ++i) {
        ASSERT_TRUE(me.wait(events[i]));
        EXPECT_EQ(words[i], 2 * i);
      }
      words.back() = events.size();
      ASSERT_TRUE(all_reduce(world, std::span(&words.back(), 1), ReduceOp::sum)) << "there is room again";
      EXPECT_EQ(words.back(), 2 * events.size());
    } else {
      std::uint64_t count = 0;
      ASSERT_TRUE(progress_until(me, [&] { return (count = signal_value(me, kHeld)) != 0; }));
      for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t word = i;
        ASSERT_TRUE(all_reduce(world, std::span(&word, 1), ReduceOp::sum)) << "call " << i;
        EXPECT_EQ(word, 2 * i);
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, CollectivesInFlight, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
