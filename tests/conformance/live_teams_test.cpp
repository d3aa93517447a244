#include <aqueduct/coll.hpp>

#include "tests/conformance/fabric_test.hpp"

#include <array>
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

// In one order neighbours share a host, in another they do not: so others write to a member in the same operation.
TEST_P(LiveTeams, OfOneSizeWhoseMembersShareHostsDifferently) {
  run({.ranks = 4, .segment_bytes = 4096, .settings = {{"coll_scratch", "64K"}}}, [](Endpoint& me) {
    constexpr std::array<std::array<std::int64_t, 4>, 3> kOrders{{{0, 1, 2, 3}, {0, 2, 1, 3}, {3, 1, 0, 2}}};
    std::vector<Team> teams;
    for (const auto& order : kOrders) {
      auto team = me.world().split(0, order[me.rank()]);
      ASSERT_TRUE(team && *team);
      teams.push_back(std::move(**team));
    }
    for (std::uint64_t round = 0; round < 100; ++round) {
      for (Team& team : teams) {
        std::array<std::uint64_t, 20> mine, sums{};
        std::array<std::uint64_t, 80> all{};
        mine.fill(me.rank() + round);
        const Rank root = static_cast<Rank>(round % 4);
        std::array<std::uint64_t, 20> told = mine;
        ASSERT_TRUE(all_reduce(team, std::span<const std::uint64_t>(mine), std::span(sums), ReduceOp::sum));
        ASSERT_EQ(sums.front(), 6 + 4 * round);
        ASSERT_TRUE(all_gather(team, std::span<const std::uint64_t>(mine), std::span(all)));
        for (Rank i = 0; i < 4; ++i) ASSERT_EQ(all[i * 20], team.members()[i] + round);
        ASSERT_TRUE(broadcast(team, std::span(told), root));
        ASSERT_EQ(told.back(), team.members()[root] + round);
        ASSERT_TRUE(team.barrier());
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(On, LiveTeams, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
