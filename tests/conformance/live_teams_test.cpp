#include <aqueduct/coll.hpp>

#include "tests/conformance/fabric_test.hpp"

#include <vector>

namespace aqueduct::conformance {
namespace {

/// Many teams at the same time, all of which have memory for collective operations.
class LiveTeams : public FabricTest {};

TEST_P(LiveTeams, OfTwoReduceEach) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [](Endpoint& me) {
    constexpr std::uint64_t kTeams = 300;
    std::vector<Team> teams;
    for (std::uint64_t i = 0; i < kTeams; ++i) {
      auto team = me.world().split(me.rank() / 2, 0);
      ASSERT_TRUE(team) << "team " << i << ": " << team.status().text();
      ASSERT_TRUE(*team);
      teams.push_back(std::move(**team));
    }
    const auto sum_of = [](const Team& team, std::uint64_t i) {
      std::uint64_t sum = 0;
      for (const Rank rank : team.members()) sum += (rank + 1) * (i + 1);
      return sum;
    };
    // The latest first, since the first have more memory.
    for (std::uint64_t i = kTeams; i-- > 0;) {
      std::vector<std::uint64_t> values(3, (me.rank() + 1) * (i + 1));
      const Status status = all_reduce(teams[i], values, ReduceOp::sum);
      ASSERT_TRUE(status) << "team " << i << ": " << status.text();
      EXPECT_EQ(values, std::vector<std::uint64_t>(3, sum_of(teams[i], i))) << "team " << i;
    }
    std::vector<std::uint64_t> values(1, me.rank() + 1);
    ASSERT_TRUE(all_reduce(me.world(), values, ReduceOp::sum));
    EXPECT_EQ(values.front(), sum_of(me.world(), 0));
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, LiveTeams, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
