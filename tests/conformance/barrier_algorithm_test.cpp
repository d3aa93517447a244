// The algorithm of a team's barriers, if its conduit has none of its own: by a setting, and by a search.

#include <aqueduct/tune.hpp>

#include "coll/barriers.hpp"
#include "tests/conformance/fabric_test.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::conformance {
namespace {

using namespace std::chrono_literals;

class BarrierAlgorithm : public FabricTest {
 protected:
  /// Barriers do what they are for: values are compared, and several may be in flight.
  static void expect_right_barriers(Endpoint& me, Team& team) {
    for (std::uint32_t round = 0; round < 4; ++round) {
      ASSERT_TRUE(team.barrier(round));
      std::vector<Event> flight;
      for (std::uint32_t i = 0; i < 4; ++i) flight.push_back(team.barrier_nb(i == 2 ? team.index() : i));
      for (std::uint32_t i = 0; i < 4; ++i)
        EXPECT_EQ(me.wait(std::move(flight[i])).code(), i == 2 ? ErrorCode::mismatch : ErrorCode::ok) << i;
    }
  }
  /// Which the conduit carries out is a team of all ranks; it has no second one.
  static bool is_of_conduit(Team& team) { return coll::Barriers::has_native(team.state()); }
};

TEST_P(BarrierAlgorithm, IsThatOfASetting) {
  for (const char* const name : {"tree", "multiplying:radix=2"}) {
    run({.ranks = std::min<Rank>(many(), 4), .segment_bytes = 64, .settings = {{"coll_barrier", name}}},
        [&](Endpoint& me) {
          auto team = me.world().dup();
          ASSERT_TRUE(team) << team.status().text();
          const std::string why = team->explain(Collective::barrier, 0);
          if (!is_of_conduit(*team)) {
            EXPECT_NE(why.find("  " + std::string(name)), std::string::npos) << why;
            EXPECT_NE(why.find("(a setting asks for it)"), std::string::npos) << why;
          }
          ASSERT_NO_FATAL_FAILURE(expect_right_barriers(me, *team));
          ASSERT_NO_FATAL_FAILURE(expect_right_barriers(me, me.world()));
          ASSERT_TRUE(team->end());
          ASSERT_TRUE(me.barrier());
        });
  }
}

TEST_P(BarrierAlgorithm, IsFoundByASearch) {
  as_each_of(std::min<Rank>(many(), 4), 64, [](Endpoint& me) {
    auto team = me.world().dup();
    ASSERT_TRUE(team) << team.status().text();
    ASSERT_NO_FATAL_FAILURE(expect_right_barriers(me, *team));
    // One that is still in flight here or there when the search begins.
    Event before = team->barrier_nb();
    TuneOptions options;
    options.time = 1s;
    options.candidates = 3;
    const auto report = tune(*team, std::array{Collective::barrier, Collective::broadcast},
                             std::array<std::uint64_t, 2>{64, 512}, options);
    ASSERT_TRUE(report) << report.status().text();
    EXPECT_TRUE(me.wait(std::move(before)));
    EXPECT_EQ(report->found.size() + report->left_out, 3u) << "a barrier has no size";
    for (const Tuned& one : report->found) {
      if (one.operation != Collective::barrier) continue;
      EXPECT_FALSE(is_of_conduit(*team));
      EXPECT_EQ(one.bytes, 0u);
      EXPECT_GT(one.median.count(), 0);
      const std::string why = team->explain(Collective::barrier, 0);
      EXPECT_NE(why.find("measured: "), std::string::npos) << why;
      EXPECT_NE(why.find("  " + one.algorithm), std::string::npos) << why << one.algorithm;
    }
    ASSERT_NO_FATAL_FAILURE(expect_right_barriers(me, *team));
    ASSERT_TRUE(team->end());
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, BarrierAlgorithm, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
