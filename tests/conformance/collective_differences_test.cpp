#include "tests/conformance/collective_errors.hpp"

#include <array>
#include <functional>
#include <optional>

namespace aqueduct::conformance {
namespace {

/// Members that make different calls at the same time.
class CollectiveDifferences : public CollectiveErrorsTest {};

/// Each member makes a call of its own, and no member is right.
void expect_mismatch(Endpoint& me, Team& team, const std::function<Event(Team&)>& call) {
  const ErrorCode found = ends_soon(me, call(team));
  EXPECT_EQ(found, ErrorCode::mismatch) << describe(found).name;
  ASSERT_NO_FATAL_FAILURE(expect_broken(me, team));
}

// With Sync::all at both ends all members meet, by whichever algorithm.
TEST_P(CollectiveDifferences, DifferentOperationsAreAMismatch) {
  with_mismatches(1, [](Endpoint& me, Team& team, std::size_t) {
    std::array<std::uint32_t, 4> in{};
    std::array<std::uint32_t, 12> out{};
    expect_mismatch(me, team, [&](Team& on) {
      return on.index() == 1 ? all_gather_nb(on, in, out)
                             : all_reduce_nb(on, in, std::span(out).first(4), ReduceOp::sum);
    });
  });
}

TEST_P(CollectiveDifferences, DifferentSizesAreAMismatch) {
  with_mismatches(1, [](Endpoint& me, Team& team, std::size_t) {
    std::array<std::uint32_t, 64> data{};
    expect_mismatch(me, team, [&](Team& on) {
      return all_reduce_nb(on, std::span(data).first(on.index() == 2 ? 40 : 41), ReduceOp::sum);
    });
  });
}

TEST_P(CollectiveDifferences, DifferentOperatorsTypesOrModesAreAMismatch) {
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
TEST_P(CollectiveDifferences, DifferentKindsOfBuffersAreAMismatch) {
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

TEST_P(CollectiveDifferences, AnOperatorThatIsCommutativeOnSomeMembersIsAMismatch) {
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
TEST_P(CollectiveDifferences, ACallThatAMemberLeavesOutIsAMismatch) {
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
TEST_P(CollectiveDifferences, ABindWhereOthersStartIsAMismatch) {
  with_mismatches(3, [](Endpoint& me, Team& team, std::size_t which) {
    expect_plan_mismatch(me, team, static_cast<Rank>(which), false);
  });
}

TEST_P(CollectiveDifferences, AnEndOfAPlanWhereOthersStartIsAMismatch) {
  with_mismatches(3, [](Endpoint& me, Team& team, std::size_t which) {
    expect_plan_mismatch(me, team, static_cast<Rank>(which), true);
  });
}

TEST_P(CollectiveDifferences, BindsOfDifferentPlansAreAMismatch) {
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
TEST_P(CollectiveDifferences, APlanMayBeDestroyedOnSomeMembers) {
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

INSTANTIATE_TEST_SUITE_P(On, CollectiveDifferences, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
