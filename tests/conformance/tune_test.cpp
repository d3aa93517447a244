#include <aqueduct/tune.hpp>

#include "tests/conformance/collective_trial.hpp"
#include "tests/conformance/fabric_test.hpp"

#include <array>
#include <chrono>
#include <stdexcept>
#include <vector>

namespace aqueduct::conformance {
namespace {

using namespace std::chrono_literals;

/// A team searches for its fastest algorithms.
class Tune : public FabricTest {
 protected:
  static TuneOptions briefly() {
    TuneOptions options;
    options.time = 2s;
    options.candidates = 3;
    return options;
  }
  /// The results of calls are right, before and after a search.
  static void expect_right_sums(Team& team) {
    std::vector<double> values(64, team.index() + 1.0);
    ASSERT_TRUE(all_reduce(team, values, ReduceOp::sum));
    const double sum = team.size() * (team.size() + 1) / 2.0;
    for (const double value : values) ASSERT_EQ(value, sum);
  }
};

TEST_P(Tune, FindsTheSameOnAllMembersAndUsesIt) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [](Endpoint& me) {
    constexpr std::array kOperations{Collective::broadcast, Collective::all_reduce};
    constexpr std::array<std::uint64_t, 2> kSizes{64, 512};
    auto team = me.world().dup();
    ASSERT_TRUE(team) << team.status().text();
    expect_right_sums(*team);
    const auto report = tune(*team, kOperations, kSizes, briefly());
    ASSERT_TRUE(report) << report.status().text();
    EXPECT_EQ(report->found.size() + report->left_out, 4u);
    EXPECT_FALSE(report->saved);
    std::uint64_t medians = 0;
    for (const Tuned& one : report->found) {
      EXPECT_GT(one.median.count(), 0);
      EXPECT_GT(one.tried, 0u);
      medians += static_cast<std::uint64_t>(one.median.count());
      const std::string why =
          team->explain(one.operation, one.bytes, one.operation == Collective::all_reduce ? 8 : 1);
      EXPECT_NE(why.find("measured: "), std::string::npos) << why;
      EXPECT_NE(why.find("  " + one.algorithm), std::string::npos) << why << one.algorithm;
    }
    std::array<std::uint64_t, 2> least{medians, ~medians};
    ASSERT_TRUE(all_reduce(*team, least, ReduceOp::max));
    EXPECT_EQ(least[0], ~least[1]) << "members have different reports";
    expect_right_sums(*team);
    // Another team has not been tuned.
    EXPECT_EQ(me.world().explain(Collective::broadcast, 64).find("measured"), std::string::npos);
    ASSERT_TRUE(team->end());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Tune, CanOverlapWork) {
  as_each_of(2, 4096, [](Endpoint& me) {
    int calls = 0;
    TuneOptions options = briefly();
    options.work = [&] { ++calls; };
    const auto report =
        tune(me.world(), std::array{Collective::all_reduce}, std::array<std::uint64_t, 1>{64}, options);
    ASSERT_TRUE(report) << report.status().text();
    EXPECT_GT(calls, 0);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Tune, WhoseWorkThrowsEndsOnAllMembers) {
  as_each_of(3, 4096, [](Endpoint& me) {
    TuneOptions options = briefly();
    int calls = 0;
    options.work = [&] {
      if (me.rank() == 1 && ++calls == 3) throw std::runtime_error("no more work");
    };
    const auto report =
        tune(me.world(), std::array{Collective::broadcast}, std::array<std::uint64_t, 1>{64}, options);
    EXPECT_EQ(report.status(), Status(ErrorCode::invalid_argument, 1));
    expect_right_sums(me.world());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Tune, RefusesOnAllMembersWhatCannotBe) {
  as_each_of(2, 4096, [](Endpoint& me) {
    Team& team = me.world();
    const auto code = [&](Collective operation, std::uint64_t bytes, const TuneOptions& options) {
      return tune(team, std::array{operation}, std::array{bytes}, options).status().code();
    };
    EXPECT_EQ(code(Collective::permute, 8, briefly()), ErrorCode::invalid_argument);
    EXPECT_EQ(code(Collective::all_reduce, 12, briefly()), ErrorCode::invalid_argument) << "half an element";
    EXPECT_EQ(code(Collective::broadcast, me.rank() == 0 ? 8 : 16, briefly()), ErrorCode::mismatch);
    const auto none = tune(team, {}, {}, briefly());
    ASSERT_TRUE(none);
    EXPECT_TRUE(none->found.empty());
    TuneOptions hurried = briefly();
    hurried.time = 0s;
    const auto late = tune(team, std::array{Collective::broadcast}, std::array<std::uint64_t, 1>{8}, hurried);
    ASSERT_TRUE(late);
    EXPECT_EQ(late->left_out, 1u);
    expect_right_sums(team);
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Tune, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
