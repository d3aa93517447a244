#include "tests/conformance/collective_errors.hpp"
#include "tests/conformance/collective_v.hpp"
#include "tests/conformance/fabric_test.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace aqueduct::conformance {
namespace {

/// Calls whose blocks may differ, with ends that disagree or wrong arguments.
class CollectiveBlocksErrors : public FabricTest {};

/// How a call ended that must not hang.
ErrorCode blocks_end_soon(Endpoint& me, Event event) {
  return ends_soon(me, std::move(event), std::chrono::seconds(20));
}

void expect_team_goes_on(Team& team) {
  std::uint64_t word = 1;
  const Status status = all_reduce(team, std::span(&word, 1), ReduceOp::sum);
  ASSERT_TRUE(status) << status.text();
  ASSERT_EQ(word, team.size());
}

// One end of one pair, in each direction, with calls before and after.
TEST_P(CollectiveBlocksErrors, EndsThatDifferAreAMismatchOnAllMembers) {
  as_each_of(3, 4096, [](Endpoint& me) {
    for (Rank wrong = 0; wrong < me.ranks(); ++wrong) {
      for (const Rank of : {(wrong + 1) % me.ranks(), (wrong + 2) % me.ranks()}) {
        for (const bool more : {false, true}) {
          const BlocksCase made{.operation = Collective::all_to_all_v, .number = 400 + wrong, .most = 60};
          ASSERT_NO_FATAL_FAILURE(try_blocks<std::int32_t>(me, me.world(), made));
          std::vector<std::uint64_t> in(12, me.rank()), out(12, 99);
          std::vector<std::uint64_t> in_counts{4, 4, 4}, out_counts{4, 4, 4};
          const std::vector<std::uint64_t> at{0, 4, 8};
          if (me.rank() == wrong) (more ? in_counts : out_counts)[of] = 3;
          Event event = all_to_all_v_nb(me.world(), in, {in_counts, at}, out, {out_counts, at});
          EXPECT_EQ(blocks_end_soon(me, std::move(event)), ErrorCode::mismatch);
          EXPECT_EQ(out, std::vector<std::uint64_t>(12, 99)) << "nothing has moved";
          ASSERT_NO_FATAL_FAILURE(expect_team_goes_on(me.world()));
        }
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveBlocksErrors, ABlockThatTheRootGivesAnotherLengthIsAMismatch) {
  as_each_of(3, 4096, [](Endpoint& me) {
    std::vector<std::uint64_t> all(30, 99), mine(5, 99);  // inputs and outputs have other numbers
    const std::vector<std::uint64_t> counts{5, 5, me.rank() == 1 ? 6u : 5u};
    EXPECT_EQ(blocks_end_soon(me, scatter_v_nb(me.world(), all, {counts}, mine, 1)), ErrorCode::mismatch);
    EXPECT_EQ(blocks_end_soon(me, gather_v_nb(me.world(), mine, all, {counts}, 1)), ErrorCode::mismatch);
    EXPECT_EQ(
        blocks_end_soon(me, all_gather_v_nb(me.world(), std::span(mine).first(me.rank() == 2 ? 4 : 5), all,
                                            {std::vector<std::uint64_t>{5, 5, me.rank() == 2 ? 4u : 5u}})),
        ErrorCode::mismatch);
    EXPECT_EQ(all, std::vector<std::uint64_t>(30, 99));
    EXPECT_EQ(mine, std::vector<std::uint64_t>(5, 99));
    ASSERT_NO_FATAL_FAILURE(expect_team_goes_on(me.world()));
    // The same by a plan, which can be started again.
    auto plan = gather_v_plan(me.world(), mine, all, {counts}, 1);
    ASSERT_TRUE(plan);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(blocks_end_soon(me, plan->start()), ErrorCode::mismatch);
    ASSERT_TRUE(plan->end());
    ASSERT_NO_FATAL_FAILURE(expect_team_goes_on(me.world()));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveBlocksErrors, PermutedBlocksOfDifferentLengthsAreAMismatch) {
  as_each_of(3, 4096, [](Endpoint& me) {
    const std::size_t count = me.rank() == 1 ? 5 : 4;
    std::vector<std::int32_t> in(count, 1), out(count, 99);
    const Rank next_one = (me.rank() + 1) % 3;
    EXPECT_EQ(blocks_end_soon(me, permute_nb(me.world(), in, out, next_one)), ErrorCode::mismatch);
    EXPECT_EQ(blocks_end_soon(me, permute_nb(me.world(), in, out, next_one, (me.rank() + 2) % 3)),
              ErrorCode::mismatch);
    // A block of no bytes is one, too.
    const std::span<std::int32_t> none_or_all = std::span(in).first(me.rank() == 1 ? 0 : 4);
    EXPECT_EQ(blocks_end_soon(me, permute_nb(me.world(), none_or_all,
                                             std::span(out).first(none_or_all.size()), next_one)),
              ErrorCode::mismatch);
    EXPECT_EQ(out, std::vector<std::int32_t>(count, 99));
    ASSERT_NO_FATAL_FAILURE(expect_team_goes_on(me.world()));
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveBlocksErrors, DestinationsThatAreNoPermutationAreAMismatch) {
  as_each_of(3, 4096, [](Endpoint& me) {
    std::vector<std::int32_t> in(7, 1), out(7, 99);
    const Rank next_one = (me.rank() + 1) % 3;
    // Two send to one.
    const Rank to = me.rank() == 2 ? 1 : next_one;
    EXPECT_EQ(blocks_end_soon(me, permute_nb(me.world(), in, out, to)), ErrorCode::mismatch);
    // A permutation, but the sources are those of another one.
    EXPECT_EQ(blocks_end_soon(me, permute_nb(me.world(), in, out, next_one, next_one)), ErrorCode::mismatch);
    EXPECT_EQ(out, std::vector<std::int32_t>(7, 99));
    ASSERT_TRUE(permute(me.world(), in, out, next_one, (me.rank() + 2) % 3));
    EXPECT_EQ(out, std::vector<std::int32_t>(7, 1));
    ASSERT_NO_FATAL_FAILURE(expect_team_goes_on(me.world()));
    ASSERT_TRUE(me.barrier());
  });
}

// All members make the same wrong call: each is told at once, and the team goes on.
TEST_P(CollectiveBlocksErrors, WrongArgumentsAreRefused) {
  as_each_of(3, 4096, [](Endpoint& me) {
    Team& team = me.world();
    std::vector<std::uint64_t> in(12), out(12);
    using List = std::vector<std::uint64_t>;
    const List fours{4, 4, 4}, at{0, 4, 8};
    constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
    const auto refused = [&](const CollBlocks& in_blocks, const CollBlocks& out_blocks) {
      EXPECT_EQ(blocks_end_soon(me, all_to_all_v_nb(team, in, in_blocks, out, out_blocks)),
                ErrorCode::invalid_argument);
      ASSERT_NO_FATAL_FAILURE(expect_team_goes_on(team));
    };
    const List overlap{0, 3, 8}, beyond{0, 4, 9}, two{4, 4}, wraps{0, 4, kHuge - 2},
        many_bytes{4, 4, kHuge / 8 + 1};
    refused({fours, at}, {fours, overlap});
    refused({fours, at}, {fours, beyond});
    refused({fours, beyond}, {fours, at});
    refused({fours, at}, {fours, wraps});
    refused({fours, wraps}, {fours, at});
    refused({many_bytes}, {fours});
    refused({fours}, {many_bytes});
    refused({two}, {fours});
    refused({fours}, {fours, two});
    refused({fours}, {});
    // Inputs may overlap.
    EXPECT_TRUE(all_to_all_v(team, in, {fours, overlap}, out, {fours, at}));
    // In place.
    EXPECT_EQ(all_to_all_v(team, in, {fours}, in, {fours}).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(permute(team, in, in, (me.rank() + 1) % 3).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(permute(team, in, out, 3).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(permute(team, in, std::span(out).first(11), me.rank()).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(scatter_v(team, in, {fours}, std::span(out).first(4), 3).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(all_gather_v(team, std::span(in).first(3), out, {fours}).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(all_gather_v_plan(team, std::span(in).first(3), out, {fours}).status().code(),
              ErrorCode::invalid_argument);
    ASSERT_NO_FATAL_FAILURE(expect_team_goes_on(team));
    ASSERT_TRUE(me.barrier());
  });
}

// As of every call: the team cannot be used then.
TEST_P(CollectiveBlocksErrors, ACallThatOneMemberRefusesIsToldToAll) {
  as_each_of(3, 4096, [](Endpoint& me) {
    for (const bool other : {false, true}) {
      if (other && !finds_different_calls(me)) continue;
      auto team = me.world().split(0, me.rank());
      ASSERT_TRUE(team && *team);
      std::vector<std::int32_t> in(12), out(12);
      const std::vector<std::uint64_t> fours{4, 4, 4}, overlap{0, 3, 8}, at{0, 4, 8};
      const bool wrong = me.rank() == 1;
      if (wrong && other) {
        EXPECT_EQ(blocks_end_soon(me, permute_nb(**team, in, out, 0)), ErrorCode::mismatch);
      } else {
        EXPECT_EQ(
            blocks_end_soon(me, all_to_all_v_nb(**team, in, {fours, at}, out, {fours, wrong ? overlap : at})),
            wrong ? ErrorCode::invalid_argument : ErrorCode::mismatch);
      }
      std::uint64_t word = 1;
      EXPECT_EQ(blocks_end_soon(me, all_reduce_nb(**team, std::span(&word, 1), ReduceOp::sum)),
                ErrorCode::mismatch);
      EXPECT_TRUE((*team)->end());
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, CollectiveBlocksErrors, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
