#include "tests/conformance/collective_errors.hpp"
#include "tests/conformance/forms.hpp"

#include <array>
#include <complex>
#include <functional>
#include <optional>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// Wrong calls, and calls that end at a limit.
class CollectiveErrors : public CollectiveErrorsTest {};

/// All members' calls are wrong alike: each is told at once, nothing has happened, and the team goes on.
void expect_all_refused(Endpoint& me, Team& team, ErrorCode why, const std::function<Event(Team&)>& call) {
  for (std::uint64_t round = 1; round <= 3; ++round) {
    Event event = call(team);
    EXPECT_TRUE(event.done());
    const ErrorCode found = ends_soon(me, std::move(event));
    EXPECT_EQ(found, why) << describe(found).name;
    std::uint64_t word = round;
    const Status after = all_reduce(team, std::span(&word, 1), ReduceOp::sum);
    ASSERT_TRUE(after) << after.text();
    EXPECT_EQ(word, 3 * round);
  }
}

TEST_P(CollectiveErrors, ARootThatIsNoMemberIsRefused) {
  with_teams(1, [](Endpoint& me, Team& team, std::size_t) {
    std::array<std::uint32_t, 4> data{};
    expect_all_refused(me, team, ErrorCode::invalid_argument,
                       [&](Team& on) { return broadcast_nb(on, data, 3); });
  });
}

TEST_P(CollectiveErrors, ARootThatOneMemberNamesWronglyIsToldToAll) {
  with_teams(2, [](Endpoint& me, Team& team, std::size_t which) {
    const bool blocking = which == 1;
    std::array<std::uint32_t, 4> in{}, out{};
    // Some calls before, so that it is not the first one.
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(all_reduce(team, in, out, ReduceOp::sum));
    if (team.index() == 1) {
      EXPECT_EQ(reduce(team, in, out, ReduceOp::sum, 3).code(), ErrorCode::invalid_argument);
    } else if (blocking) {
      EXPECT_EQ(reduce(team, in, out, ReduceOp::sum, 0).code(), ErrorCode::mismatch);
    } else {
      EXPECT_EQ(ends_soon(me, reduce_nb(team, in, out, ReduceOp::sum, 0)), ErrorCode::mismatch);
    }
    ASSERT_NO_FATAL_FAILURE(expect_broken(me, team));
  });
}

TEST_P(CollectiveErrors, ABufferThatIsTooShortOnOneMemberIsToldToAll) {
  // Not the first one, broadcast: its one size is that of the output.
  with_teams(kCollectives.size() - 1, [](Endpoint& me, Team& team, std::size_t which) {
    const Collective operation = kCollectives[which + 1];
    CollectiveCall call{.operation = operation, .count = 4, .root = 1, .form = CollForm::nb};
    std::vector<std::int32_t> from(4 * blocks_in(operation, 3)), to(4 * blocks_out(operation, 3));
    std::span<const std::int32_t> in = from;
    std::span<std::int32_t> out = to;
    const bool wrong = team.index() == 1;
    if (wrong && blocks_out(operation, 3) == 1) in = in.first(in.size() - 1);
    if (wrong && blocks_out(operation, 3) != 1) out = out.first(out.size() - 1);
    const ErrorCode found = ends_soon(me, coll_call<CallsInFlight>(team, call, in, out));
    EXPECT_EQ(found, wrong ? ErrorCode::invalid_argument : ErrorCode::mismatch) << text_of(call);
    ASSERT_NO_FATAL_FAILURE(expect_broken(me, team));
  });
}

TEST_P(CollectiveErrors, BuffersThatOverlapInPartAreRefused) {
  with_teams(1, [](Endpoint& me, Team& team, std::size_t) {
    std::array<std::uint32_t, 6> data{};
    expect_all_refused(me, team, ErrorCode::invalid_argument, [&](Team& on) {
      return all_reduce_nb(on, std::span(data).first(4), std::span(data).subspan(2, 4), ReduceOp::sum);
    });
  });
}

TEST_P(CollectiveErrors, OperatorsThatATypeDoesNotHaveAreRefused) {
  const std::function<Event(Team&)> calls[] = {
      [](Team& on) {
        thread_local std::array<double, 2> data{};  // a call that is not refused goes on
        return all_reduce_nb(on, data, ReduceOp::bit_and);
      },
      [](Team& on) {
        thread_local std::array<std::complex<float>, 2> data{};
        return all_reduce_nb(on, data, ReduceOp::max);
      },
      [](Team& on) {
        thread_local std::array<WithIndex<float>, 2> data{};
        return all_reduce_nb(on, data, ReduceOp::sum);
      },
      [](Team& on) {
        thread_local std::array<std::int32_t, 2> data{};
        return all_reduce_nb(on, data, ReduceOp::min_index);
      },
      [](Team& on) {  // nobody has added it
        thread_local std::array<std::int32_t, 2> data{};
        return all_reduce_nb(on, data, Reducer::user(12));
      },
      [](Team& on) {  // elements that are bytes
        thread_local std::array<std::array<std::uint8_t, 5>, 2> data{};
        return all_reduce_nb(on, data, ReduceOp::sum);
      },
  };
  with_teams(std::size(calls), [&calls](Endpoint& me, Team& team, std::size_t which) {
    expect_all_refused(me, team, ErrorCode::invalid_argument, calls[which]);
  });
}

TEST_P(CollectiveErrors, PlacesOutsideTheirSegmentAreRefused) {
  with_teams(1, [](Endpoint& me, Team& team, std::size_t) {
    auto segment = Segment::create<std::uint64_t>(me.world(), 8);
    ASSERT_TRUE(segment);
    ASSERT_NO_FATAL_FAILURE(expect_all_refused(me, team, ErrorCode::out_of_range, [&](Team& on) {
      return broadcast_nb(on, on_all(*segment, 5, 4));
    }));
    // 8 bytes times this, cut to 64 bits, would be a place inside.
    constexpr std::uint64_t kWraps = (std::uint64_t{1} << 61) + 1;
    ASSERT_NO_FATAL_FAILURE(expect_all_refused(me, team, ErrorCode::out_of_range, [&](Team& on) {
      return broadcast_nb(on, on_all(*segment, kWraps, 4));
    }));
    ASSERT_NO_FATAL_FAILURE(expect_all_refused(me, team, ErrorCode::invalid_argument, [&](Team& on) {
      return broadcast_nb(on, on_all(*segment, 0, kWraps));
    }));
    ASSERT_TRUE(segment->release());
  });
}

// The program's counters and the library's own memory: no collective call writes there.
TEST_P(CollectiveErrors, PlacesInTheLibrarysOwnSegmentAreRefused) {
  with_teams(1, [](Endpoint& me, Team& team, std::size_t) {
    expect_all_refused(me, team, ErrorCode::out_of_range, [](Team& on) {
      OnAll<std::uint64_t> counters;
      counters.segment = 1;
      counters.count = 1;
      return broadcast_nb(on, counters);
    });
  });
}

TEST_P(CollectiveErrors, ListsThatAreNotAsLongAsTheTeamAreRefused) {
  with_teams(1, [](Endpoint& me, Team& team, std::size_t) {
    std::vector<GlobalPtr<std::uint64_t>> list;
    for (Rank i = 0; i < 4; ++i) list.emplace_back(team.rank_of(i % 3), 64);
    for (const std::size_t places : {0, 1, 2, 4}) {
      ASSERT_NO_FATAL_FAILURE(expect_all_refused(me, team, ErrorCode::invalid_argument, [&](Team& on) {
        return broadcast_nb(on, on_all(std::span<const GlobalPtr<std::uint64_t>>(list).first(places), 4));
      }));
    }
  });
}

// What an operation does not use, members need not agree on.
TEST_P(CollectiveErrors, OptionsThatAnOperationDoesNotUseMayDiffer) {
  with_teams(1, [](Endpoint&, Team& team, std::size_t) {
    CollOptions options;
    if (team.index() == 1) options.order = ReduceOrder::exact;
    std::array<std::uint32_t, 4> data{team.index(), 1, 2, 3};
    for (Rank root = 0; root < 3; ++root) {
      data[0] = 10 + team.index();
      const Status status = broadcast(team, data, root, options);
      ASSERT_TRUE(status) << status.text();
      EXPECT_EQ(data[0], 10 + root);
    }
  });
}

TEST_P(CollectiveErrors, ATeamThatHasEndedIsClosed) {
  as_each_of(2, 4096, [](Endpoint& me) {
    auto team = me.world().split(0, me.rank());
    ASSERT_TRUE(team && *team);
    std::array<std::uint32_t, 4> in{}, out{};
    ASSERT_TRUE(all_reduce(**team, in, out, ReduceOp::sum));
    ASSERT_TRUE((*team)->end());
    EXPECT_EQ(all_reduce(**team, in, out, ReduceOp::sum).code(), ErrorCode::closed);
    EXPECT_EQ(broadcast_nb(**team, in).status().code(), ErrorCode::closed);
    EXPECT_EQ(all_to_all_plan(**team, in, out).status().code(), ErrorCode::closed);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveErrors, InAHandlerACallIsRefusedAndNothingElse) {
  as_each_of(2, 4096, [](Endpoint& me) {
    std::array<std::uint32_t, 4> data{1, 2, 3, 4};
    std::optional<std::array<ErrorCode, 3>> seen;
    const auto handler = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) {
      seen = {all_reduce(me.world(), data, ReduceOp::sum).code(),
              broadcast_nb(me.world(), data).status().code(),
              all_reduce_plan(me.world(), data, ReduceOp::sum).status().code()};
    });
    ASSERT_TRUE(handler && me.barrier());
    ASSERT_TRUE(request(me, next(me), *handler));
    ASSERT_TRUE(progress_until(me, [&] { return seen.has_value(); }));
    for (const ErrorCode code : *seen) EXPECT_EQ(code, ErrorCode::in_handler) << describe(code).name;
    ASSERT_TRUE(all_reduce(me.world(), data, ReduceOp::sum));
    EXPECT_EQ(data, (std::array<std::uint32_t, 4>{2, 4, 6, 8}));
    ASSERT_TRUE(me.barrier());
  });
}

// A later one with Sync::all says that the buffers are free.
TEST_P(CollectiveErrors, TheNextCallForAllEndsAfterOneThatHasTimedOut) {
  as_each_of(4, 4096, [](Endpoint& me) {
    constexpr std::uint64_t kMark = 0xdead;
    for (std::uint64_t round = 1; round <= 8; ++round) {
      std::vector<std::uint64_t> in(16384, round), out(in.size());
      CollOptions options;
      options.limit = std::chrono::microseconds(200);
      const Status status =
          scan(me.world(), std::span<const std::uint64_t>(in), std::span(out), ReduceOp::sum, options);
      ASSERT_TRUE(status || status.code() == ErrorCode::timed_out) << status.text();
      std::uint64_t word = 1;
      if (round % 2 == 0) {
        ASSERT_TRUE(all_reduce(me.world(), std::span(&word, 1), ReduceOp::sum));
      } else {
        ASSERT_TRUE(me.wait(all_reduce_nb(me.world(), std::span(&word, 1), ReduceOp::sum)));
      }
      ASSERT_EQ(word, 4u);
      ASSERT_EQ(std::ranges::count(out, round * (me.rank() + 1)), 16384) << "round " << round;
      std::ranges::fill(out, kMark);
      for (int i = 0; i < 20; ++i) me.progress();
      ASSERT_EQ(std::ranges::count(out, kMark), 16384) << "round " << round;
      ASSERT_TRUE(me.barrier());
    }
  });
}

// The operation goes on after the limit, with its buffers.
TEST_P(CollectiveErrors, ABlockingCallEndsAtItsLimit) {
  as_each_of(2, 4096, [](Endpoint& me) {
    constexpr SignalSlot kTimedOut = 7;
    std::uint64_t word = me.rank() + 1;
    if (me.rank() == 0) {
      CollOptions options;
      options.limit = std::chrono::milliseconds(20);
      EXPECT_EQ(all_reduce(me.world(), std::span(&word, 1), ReduceOp::sum, options).code(),
                ErrorCode::timed_out);
      ASSERT_TRUE(signal(me, 1, {kTimedOut, 1}));
    } else {
      ASSERT_TRUE(wait_until(me, kTimedOut, 1, 0, std::chrono::seconds(20)));
      ASSERT_TRUE(all_reduce(me.world(), std::span(&word, 1), ReduceOp::sum));
    }
    ASSERT_TRUE(settle(me.world()));
    EXPECT_EQ(word, 3u);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, CollectiveErrors, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
