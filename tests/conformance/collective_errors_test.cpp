#include "tests/conformance/collective_errors.hpp"
#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/forms.hpp"

#include <complex>
#include <functional>
#include <optional>

namespace aqueduct::conformance {
namespace {

/// Wrong calls. Each breaks a team of its own: that of all ranks stays whole.
class CollectiveErrors : public FabricTest {
 protected:
  /// Runs `body` on `teams` teams of three members, one after the other. `which` counts them.
  void with_teams(std::size_t teams,
                  const std::function<void(Endpoint& me, Team& team, std::size_t which)>& body) {
    as_each_of(3, 4096, [teams, body](Endpoint& me) {
      for (std::size_t which = 0; which < teams; ++which) {
        SCOPED_TRACE("team " + std::to_string(which));
        auto team = me.world().split(0, me.rank());
        ASSERT_TRUE(team && *team);
        ASSERT_NO_FATAL_FAILURE(body(me, **team, which));
        const Status ended = (*team)->end();
        EXPECT_TRUE(ended) << "a team that is broken can be ended: " << ended.text();
      }
      ASSERT_TRUE(me.barrier());
    });
  }
  /// For calls that differ: runs nothing where members do not find that out.
  void with_mismatches(std::size_t teams,
                       const std::function<void(Endpoint& me, Team& team, std::size_t which)>& body) {
    with_teams(teams, [body](Endpoint& me, Team& team, std::size_t which) {
      if (finds_different_calls(me)) body(me, team, which);
    });
  }
};

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

/// Each member makes a call of its own, and no member is right.
void expect_mismatch(Endpoint& me, Team& team, const std::function<Event(Team&)>& call) {
  const ErrorCode found = ends_soon(me, call(team));
  EXPECT_EQ(found, ErrorCode::mismatch) << describe(found).name;
  ASSERT_NO_FATAL_FAILURE(expect_broken(me, team));
}

// With Sync::all at both ends all members meet, by whichever algorithm.
TEST_P(CollectiveErrors, DifferentOperationsAreAMismatch) {
  with_mismatches(1, [](Endpoint& me, Team& team, std::size_t) {
    std::array<std::uint32_t, 4> in{};
    std::array<std::uint32_t, 12> out{};
    expect_mismatch(me, team, [&](Team& on) {
      return on.index() == 1 ? all_gather_nb(on, in, out)
                             : all_reduce_nb(on, in, std::span(out).first(4), ReduceOp::sum);
    });
  });
}

TEST_P(CollectiveErrors, DifferentSizesAreAMismatch) {
  with_mismatches(1, [](Endpoint& me, Team& team, std::size_t) {
    std::array<std::uint32_t, 64> data{};
    expect_mismatch(me, team, [&](Team& on) {
      return all_reduce_nb(on, std::span(data).first(on.index() == 2 ? 40 : 41), ReduceOp::sum);
    });
  });
}

TEST_P(CollectiveErrors, DifferentOperatorsTypesOrModesAreAMismatch) {
  with_mismatches(4, [](Endpoint& me, Team& team, std::size_t which) {
    std::array<std::uint32_t, 4> data{};
    std::array<float, 4> others{};
    expect_mismatch(me, team, [&](Team& on) {
      CollOptions options;
      const bool other = on.index() == which % 3;
      if (which == 0) return all_reduce_nb(on, data, other ? ReduceOp::min : ReduceOp::max);
      if (which == 1 && other) return all_reduce_nb(on, others, ReduceOp::sum);
      if (which == 2 && other) options.order = ReduceOrder::exact;
      if (which == 3 && other) options.out = Sync::mine;
      return all_reduce_nb(on, data, ReduceOp::sum, options);
    });
  });
}

// Members that know each other's places may take another algorithm than those that do not.
TEST_P(CollectiveErrors, DifferentKindsOfBuffersAreAMismatch) {
  with_mismatches(3, [](Endpoint& me, Team& team, std::size_t which) {
    OnAll<std::uint64_t> places;  // at the beginning of the first segment
    places.count = 4;
    std::array<std::uint64_t, 4> data{};
    expect_mismatch(me, team, [&](Team& on) {
      return on.index() == which ? all_reduce_nb(on, places, ReduceOp::sum)
                                 : all_reduce_nb(on, data, ReduceOp::sum);
    });
  });
}

TEST_P(CollectiveErrors, AnOperatorThatIsCommutativeOnSomeMembersIsAMismatch) {
  with_mismatches(1, [](Endpoint& me, Team& team, std::size_t) {
    const auto combine = [](void* to, const void* left, const void* right, std::size_t count, void*) {
      for (std::size_t i = 0; i < count; ++i)
        static_cast<std::uint32_t*>(to)[i] =
            static_cast<const std::uint32_t*>(left)[i] + static_cast<const std::uint32_t*>(right)[i];
    };
    ASSERT_TRUE(add_operator(me, 77, {combine, nullptr, sizeof(std::uint32_t), team.index() == 1}));
    std::array<std::uint32_t, 4> data{};
    expect_mismatch(me, team, [&](Team& on) { return all_reduce_nb(on, data, Reducer::user(77)); });
  });
}

// A later call of the same kind is not the same call.
TEST_P(CollectiveErrors, ACallThatAMemberLeavesOutIsAMismatch) {
  with_mismatches(1, [](Endpoint& me, Team& team, std::size_t) {
    std::array<std::uint32_t, 4> data{};
    ASSERT_TRUE(all_reduce(team, data, ReduceOp::sum));
    Event left_out;
    if (team.index() != 0) left_out = all_reduce_nb(team, std::span(data).first(1), ReduceOp::sum);
    std::array<std::uint32_t, 4> more{};
    Event event = all_reduce_nb(team, more, ReduceOp::sum);
    const ErrorCode last = ends_soon(me, std::move(event));
    EXPECT_EQ(last, ErrorCode::mismatch) << describe(last).name;
    if (team.index() != 0) {
      const ErrorCode before = ends_soon(me, std::move(left_out));
      EXPECT_EQ(before, ErrorCode::mismatch) << describe(before).name;
    }
    ASSERT_NO_FATAL_FAILURE(expect_broken(me, team));
  });
}

/// Member `other` binds or ends a plan where the others start an operation; then all start another one.
void expect_plan_mismatch(Endpoint& me, Team& team, Rank other, bool ends) {
  std::array<std::uint32_t, 4> planned{}, data{}, more{};
  std::optional<CollPlan> plan;
  if (ends) {
    auto bound = all_reduce_plan(team, planned, ReduceOp::sum);
    ASSERT_TRUE(bound) << bound.status().text();
    plan.emplace(*std::move(bound));
    ASSERT_TRUE(plan->run());
  }
  Event first;
  ErrorCode about = ErrorCode::ok;
  if (team.index() != other) {
    first = all_reduce_nb(team, data, ReduceOp::sum);
  } else if (ends) {
    about = plan->end().code();
  } else {
    auto bound = all_reduce_plan(team, planned, ReduceOp::sum);
    about = bound.status().code();
    if (bound) plan.emplace(*std::move(bound));
  }
  // It may have been told of the others' calls already.
  EXPECT_TRUE(about == ErrorCode::ok || about == ErrorCode::mismatch) << describe(about).name;
  const ErrorCode last = ends_soon(me, all_reduce_nb(team, more, ReduceOp::sum));
  EXPECT_EQ(last, ErrorCode::mismatch) << describe(last).name;
  const ErrorCode before = ends_soon(me, std::move(first));
  EXPECT_EQ(before, team.index() == other ? ErrorCode::ok : ErrorCode::mismatch) << describe(before).name;
  ASSERT_NO_FATAL_FAILURE(expect_broken(me, team));
}

// To bind and to end a plan are calls like others, though they send nothing.
TEST_P(CollectiveErrors, ABindWhereOthersStartIsAMismatch) {
  with_mismatches(3, [](Endpoint& me, Team& team, std::size_t which) {
    expect_plan_mismatch(me, team, static_cast<Rank>(which), false);
  });
}

TEST_P(CollectiveErrors, AnEndOfAPlanWhereOthersStartIsAMismatch) {
  with_mismatches(3, [](Endpoint& me, Team& team, std::size_t which) {
    expect_plan_mismatch(me, team, static_cast<Rank>(which), true);
  });
}

TEST_P(CollectiveErrors, BindsOfDifferentPlansAreAMismatch) {
  with_mismatches(1, [](Endpoint& me, Team& team, std::size_t) {
    std::array<std::uint32_t, 4> data{};
    auto plan = team.index() == 1 ? all_reduce_plan(team, data, ReduceOp::max)
                                  : all_reduce_plan(team, data, ReduceOp::min);
    if (!plan) {
      EXPECT_EQ(plan.status().code(), ErrorCode::mismatch);
    } else {
      const ErrorCode started = ends_soon(me, plan->start());
      EXPECT_EQ(started, ErrorCode::mismatch) << describe(started).name;
    }
    ASSERT_NO_FATAL_FAILURE(expect_broken(me, team));
  });
}

// A member that destroys its plan makes no call.
TEST_P(CollectiveErrors, APlanMayBeDestroyedOnSomeMembers) {
  with_teams(1, [](Endpoint&, Team& team, std::size_t) {
    std::array<std::uint32_t, 4> planned{1, 2, 3, 4};
    std::uint64_t word = 1;
    {
      auto plan = all_reduce_plan(team, planned, ReduceOp::sum);
      ASSERT_TRUE(plan) << plan.status().text();
      ASSERT_TRUE(plan->run());
      if (team.index() != 1) *plan = CollPlan();
      ASSERT_TRUE(all_reduce(team, std::span(&word, 1), ReduceOp::sum));
      EXPECT_EQ(word, 3u);
    }
    ASSERT_TRUE(all_reduce(team, std::span(&word, 1), ReduceOp::sum));
    EXPECT_EQ(word, 9u);
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
