// A tree of the team that the program gives.

#include <aqueduct/coll.hpp>

#include "tests/conformance/fabric_test.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace aqueduct::conformance {
namespace {

class CollectiveTree : public FabricTest {
 protected:
  /// The ranks of a job whose settings ask for the algorithm.
  void with_trees(Rank ranks, const Body& body) {
    run({.ranks = ranks,
         .segment_bytes = 4096,
         .settings = {{"coll_broadcast", "team-tree"},
                      {"coll_scatter", "team-tree"},
                      {"coll_gather", "team-tree"},
                      {"coll_reduce", "team-tree"}}},
        body);
  }
};

/// Each operation with each root, beside what it must give.
void expect_right_operations(Team& team) {
  const Rank members = team.size();
  for (Rank root = 0; root < members; ++root) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{700}}) {
      const std::uint64_t mark = 1000 * root + count;
      std::vector<std::uint64_t> one(count, team.index() == root ? mark : 0);
      ASSERT_TRUE(broadcast(team, std::span(one), root));
      ASSERT_EQ(one, std::vector(count, mark)) << "root " << root;
      std::vector<std::uint64_t> all(count * members);
      std::fill(one.begin(), one.end(), mark + team.index());
      ASSERT_TRUE(gather(team, std::span<const std::uint64_t>(one), std::span(all), root));
      for (std::size_t i = 0; i < all.size() && team.index() == root; ++i)
        ASSERT_EQ(all[i], mark + i / count) << "root " << root << ", element " << i;
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = 7 * mark + i / count;
      ASSERT_TRUE(scatter(team, std::span<const std::uint64_t>(all), std::span(one), root));
      ASSERT_EQ(one, std::vector(count, 7 * mark + team.index())) << "root " << root;
      std::vector<std::uint64_t> sum(count);
      std::fill(one.begin(), one.end(), team.index() + 1);
      ASSERT_TRUE(reduce(team, std::span<const std::uint64_t>(one), std::span(sum), ReduceOp::sum, root));
      if (team.index() == root) {
        ASSERT_EQ(sum, std::vector<std::uint64_t>(count, std::uint64_t{members} * (members + 1) / 2));
      }
    }
  }
}

bool goes_by_tree(Team& team) {
  return team.explain(Collective::broadcast, 64).find("not team-tree") == std::string::npos;
}

/// The chain from the last member to the first.
std::vector<Rank> from_the_last(Rank members) {
  std::vector<Rank> parents(members);
  for (Rank i = 0; i < members; ++i) parents[i] = i + 1 < members ? i + 1 : kNoRank;
  return parents;
}

TEST_P(CollectiveTree, FromTheProgramServesTheTeamUntilAnotherComes) {
  with_trees(std::min<Rank>(many(), 5), [](Endpoint& me) {
    Team& team = me.world();
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(team));
    if (team.size() > 1) {
      EXPECT_FALSE(goes_by_tree(team)) << "it has none";
    }
    for (const char* words : {"flat", "2-nomial over 2-ary portion=2", "fork:2x2"}) {
      const Status status = team.use_tree(words);
      ASSERT_TRUE(status) << status.text() << ": " << words;
      EXPECT_TRUE(goes_by_tree(team)) << team.explain(Collective::broadcast, 64);
      ASSERT_NO_FATAL_FAILURE(expect_right_operations(team)) << words;
      ASSERT_TRUE(team.barrier());
    }
    ASSERT_TRUE(team.use_tree(from_the_last(team.size())));
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(team));
    // The same tree, said otherwise.
    std::vector<Rank> chain(team.size());
    for (Rank i = 0; i < team.size(); ++i) chain[i] = i == 0 ? kNoRank : i - 1;
    ASSERT_TRUE(me.rank() == 0 ? team.use_tree("chain") : team.use_tree(chain));
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(team));
    ASSERT_TRUE(team.use_tree("none"));
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(team));
    if (team.size() > 1) {
      EXPECT_FALSE(goes_by_tree(team));
    }
  });
}

// Teams that are made of it have none, and one of another size has its own.
TEST_P(CollectiveTree, IsOfOneTeam) {
  with_trees(std::min<Rank>(many(), 4), [](Endpoint& me) {
    ASSERT_TRUE(me.world().use_tree(from_the_last(me.ranks())));
    auto half = me.world().split(me.rank() % 2, me.rank());
    auto other = me.world().dup();
    ASSERT_TRUE(half && *half && other);
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(**half));
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(*other));
    if (me.ranks() > 1) {
      EXPECT_FALSE(goes_by_tree(*other));
    }
    ASSERT_TRUE((*half)->use_tree(from_the_last((*half)->size())));
    for (Team* const team : {&me.world(), &**half, &*other})
      ASSERT_NO_FATAL_FAILURE(expect_right_operations(*team));
    ASSERT_TRUE((*half)->end());
    ASSERT_TRUE(other->end());
    EXPECT_EQ(other->use_tree("flat").code(), ErrorCode::closed);
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveTree, ThatIsWrongOrAnotherOneIsAnErrorOnAllMembers) {
  with_trees(std::min<Rank>(many(), 3), [](Endpoint& me) {
    if (me.ranks() < 2) return;
    Team& team = me.world();
    const Rank members = team.size();
    const Rank last = members - 1;
    ASSERT_TRUE(team.use_tree("flat"));
    const Status wrong(ErrorCode::invalid_argument, last);
    const auto of_last = [&](std::string_view words) {
      return team.use_tree(me.rank() == last ? words : "flat");
    };
    for (const char* words : {"", "oak", "parents=-", "file=/nowhere/at/all"})
      EXPECT_EQ(of_last(words), wrong) << words;
    EXPECT_EQ(of_last("none"), Status(ErrorCode::mismatch, last));
    EXPECT_EQ(of_last("chain").code(), members > 2 ? ErrorCode::mismatch : ErrorCode::ok);
    // Two roots, a cycle, a stranger, too few.
    std::vector<Rank> parents = from_the_last(members);
    parents[0] = kNoRank;
    EXPECT_EQ(team.use_tree(parents).code(), ErrorCode::invalid_argument);
    parents[0] = 0;
    EXPECT_EQ(team.use_tree(parents).code(), ErrorCode::invalid_argument);
    parents[0] = members;
    EXPECT_EQ(team.use_tree(parents).code(), ErrorCode::invalid_argument);
    parents.pop_back();
    EXPECT_EQ(team.use_tree(parents).code(), ErrorCode::invalid_argument);
    std::uint64_t word = 1;
    {
      auto plan = all_reduce_plan(team, std::span(&word, 1), ReduceOp::sum);
      ASSERT_TRUE(plan);
      EXPECT_EQ(team.use_tree("flat").code(), ErrorCode::invalid_argument) << "a plan is bound";
      ASSERT_TRUE(plan->end());
    }
    ASSERT_TRUE(team.notify());
    EXPECT_EQ(team.use_tree("flat").code(), ErrorCode::invalid_argument) << "a barrier is not over";
    ASSERT_TRUE(team.wait());
    // The team goes on with the tree that it had.
    EXPECT_TRUE(goes_by_tree(team));
    ASSERT_NO_FATAL_FAILURE(expect_right_operations(team));
  });
}

INSTANTIATE_TEST_SUITE_P(On, CollectiveTree, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
