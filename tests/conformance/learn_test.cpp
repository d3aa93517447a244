#include <aqueduct/coll.hpp>

#include "tests/conformance/fabric_test.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// Teams that try other algorithms while the program runs: results stay right, and all members try the same.
class Learn : public FabricTest {
 protected:
  void run_learning(Rank ranks, const Body& body) {
    run({.ranks = ranks, .segment_bytes = 4096, .settings = {{"coll_learn", "on"}}}, body);
  }
  static std::uint64_t counted(Endpoint& me, std::string_view name) {
    for (const StatisticsRow& row : me.statistics_rows()) {
      if (row.name == name) return *row.counter;
    }
    ADD_FAILURE() << "no statistics " << name;
    return 0;
  }
};

TEST_P(Learn, ResultsStayRightWhileAlgorithmsAreTried) {
  const int calls = often(240);
  run_learning(std::min<Rank>(many(), 4), [calls](Endpoint& me) {
    Team& team = me.world();
    const Rank ranks = team.size();
    std::vector<std::uint64_t> sums(16), block(8), all(8 * std::size_t{ranks}), from_root(64);
    for (int call = 0; call < calls; ++call) {
      const auto salt = static_cast<std::uint64_t>(call);
      std::fill(sums.begin(), sums.end(), salt + team.index());
      ASSERT_TRUE(all_reduce(team, sums, ReduceOp::sum));
      const std::uint64_t sum = ranks * salt + ranks * (ranks - 1) / 2;
      ASSERT_EQ(std::count(sums.begin(), sums.end(), sum), 16) << call;
      std::fill(block.begin(), block.end(), salt * 100 + team.index());
      ASSERT_TRUE(all_gather(team, block, all));
      for (Rank i = 0; i < ranks; ++i) ASSERT_EQ(all[8 * i + 7], salt * 100 + i) << call;
      const Rank root = static_cast<Rank>(call) % ranks;
      if (team.index() == root) std::iota(from_root.begin(), from_root.end(), salt);
      ASSERT_TRUE(broadcast(team, from_root, root));
      ASSERT_EQ(from_root.back(), salt + 63) << call;
    }
    EXPECT_GT(counted(me, "learning_trials"), 0u);
    std::array<std::uint64_t, 2> same{counted(me, "learning_changes"), ~counted(me, "learning_changes")};
    ASSERT_TRUE(all_reduce(team, same, ReduceOp::max));
    EXPECT_EQ(same[0], ~same[1]) << "members have learned differently";
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(Learn, OtherCallsGoOnBesideIt) {
  const int calls = often(160);
  run_learning(std::min<Rank>(many(), 3), [calls](Endpoint& me) {
    auto team = me.world().dup();
    ASSERT_TRUE(team);
    const Rank ranks = team->size();
    std::vector<std::uint64_t> early(4), late(4);
    auto plan = all_reduce_plan(*team, late, ReduceOp::max);
    ASSERT_TRUE(plan);
    for (int call = 0; call < calls; ++call) {
      const auto salt = static_cast<std::uint64_t>(call);
      std::fill(early.begin(), early.end(), salt);
      std::fill(late.begin(), late.end(), salt * ranks + team->index());
      Event begun = all_reduce_nb(*team, early, ReduceOp::sum);
      ASSERT_TRUE(plan->run());
      ASSERT_EQ(late[3], salt * ranks + ranks - 1);
      std::uint64_t word = salt + team->index();
      ASSERT_TRUE(all_reduce(*team, std::span(&word, 1), ReduceOp::min));
      ASSERT_EQ(word, salt);
      ASSERT_TRUE(me.wait(begun));
      ASSERT_EQ(early[0], salt * ranks);
      ASSERT_TRUE(team->barrier());
    }
    ASSERT_TRUE(plan->end());
    // What the members were combining may still be under way.
    ASSERT_TRUE(team->end());
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, Learn, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
