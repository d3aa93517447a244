#include <aqueduct/signal.hpp>

#include "tests/conformance/collective_v.hpp"
#include "tests/conformance/fabric_test.hpp"
#include "tests/conformance/rank_process.hpp"

#include <chrono>
#include <cstdlib>
#include <deque>
#include <limits>

namespace aqueduct::conformance {
namespace {

/// Operations whose blocks may differ, and permute.
class CollectiveBlocks : public FabricTest {};

BlocksCase random_case(Random& random, Collective operation, Rank members, std::uint64_t most) {
  BlocksCase made{.operation = operation, .number = random(), .most = random.below(most + 1)};
  made.root = static_cast<Rank>(random.below(members));
  made.packed = random.below(3) == 0;
  made.in_place = has_blocks_place(operation) && random.below(3) == 0;
  made.known = random.below(2) == 0;
  made.options.in = kSyncs[random.below(3)];
  made.options.out = kSyncs[random.below(3)];
  made.form = kCollForms[random.below(3)];
  return made;
}

TEST_P(CollectiveBlocks, MoveRandomBlocksWithGaps) {
  as_each_of(many(), 4096, [seed = seed()](Endpoint& me) {
    Random random(seed);
    for (int round = 0; round < 12; ++round) {
      for (const Collective operation : kBlocksCollectives) {
        const BlocksCase made = random_case(random, operation, me.ranks(), round % 3 == 0 ? 700 : 6);
        switch (random.below(3)) {
          case 0: ASSERT_NO_FATAL_FAILURE(try_blocks<std::uint8_t>(me, me.world(), made)); break;
          case 1: ASSERT_NO_FATAL_FAILURE(try_blocks<std::int32_t>(me, me.world(), made)); break;
          default: ASSERT_NO_FATAL_FAILURE(try_blocks<double>(me, me.world(), made)); break;
        }
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveBlocks, WorkFromAndToEveryRoot) {
  as_each_of(std::min<Rank>(many(), 5), 4096, [](Endpoint& me) {
    std::uint64_t number = 0;
    for (Rank root = 0; root < me.ranks(); ++root) {
      for (const Collective operation : {Collective::scatter_v, Collective::gather_v}) {
        for (const bool in_place : {false, true}) {
          for (const bool packed : {false, true}) {
            const BlocksCase made{.operation = operation,
                                  .number = ++number,
                                  .most = 9,
                                  .root = root,
                                  .packed = packed,
                                  .in_place = in_place};
            ASSERT_NO_FATAL_FAILURE(try_blocks<std::int32_t>(me, me.world(), made));
          }
        }
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveBlocks, GiveTheRightResultsInAllNineSyncModes) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [](Endpoint& me) {
    std::uint64_t number = 100;
    for (const Collective operation : kBlocksCollectives) {
      for (const Sync in : kSyncs) {
        for (const Sync out : kSyncs) {
          BlocksCase made{.operation = operation, .number = ++number, .most = 40, .form = CollForm::nb};
          made.options.in = in;
          made.options.out = out;
          ASSERT_NO_FATAL_FAILURE(try_blocks<std::uint8_t>(me, me.world(), made));
        }
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

constexpr SignalSlot kOthersHaveBegun = 3;
constexpr std::chrono::seconds kBlocksPatience{20};

// Whatever the mode at the beginning: the members compare lengths.
TEST_P(CollectiveBlocks, MoveNothingBeforeAllHaveCalled) {
  as_each_of(3, 4096, [](Endpoint& me) {
    std::uint64_t number = 500;
    std::uint64_t begun = 0;
    for (const Collective operation : kBlocksCollectives) {
      for (const Sync mode : kSyncs) {
        BlocksCase made{.operation = operation, .number = ++number, .most = 40, .form = CollForm::nb};
        made.options.in = made.options.out = mode;
        const Rank late = static_cast<Rank>(number % 3);
        BlocksTrial<std::int32_t> trial(me.world(), made);
        ASSERT_TRUE(me.barrier());
        Event event;
        if (me.rank() == late) {
          begun += 2;
          ASSERT_TRUE(wait_until(me, kOthersHaveBegun, begun, kAnyRank, kBlocksPatience)) << text_of(made);
        } else {
          event = trial.begin();
          for (int i = 0; i < 100; ++i) static_cast<void>(me.test(event));
          EXPECT_FALSE(event.done()) << text_of(made);
        }
        EXPECT_TRUE(trial.is_untouched()) << text_of(made);
        if (me.rank() == late) {
          event = trial.begin();
        } else {
          ASSERT_TRUE(signal(me, late, {kOthersHaveBegun, 1}));
        }
        ASSERT_TRUE(me.wait(std::move(event))) << text_of(made);
        if (mode == Sync::none) {
          ASSERT_TRUE(settle(me.world())) << text_of(made);
        }
        ASSERT_TRUE(trial.check());
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

// A team with little scratch, so that pieces are short: by default 2048 bytes among four, and 8192 where each receives from
// one. Lengths on both sides of a piece and of several.
TEST_P(CollectiveBlocks, AreCutIntoPieces) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [](Endpoint& me) {
    auto team = me.world().split(0, me.ranks() - me.rank());
    ASSERT_TRUE(team && *team);
    std::uint64_t number = 200;
    for (const Collective operation : kBlocksCollectives) {
      for (const std::uint64_t most : {2047u, 2048u, 2049u, 4096u, 4097u, 8192u, 8193u, 16'384u, 100'000u}) {
        BlocksCase made{.operation = operation, .number = ++number, .most = most, .root = 1 % me.ranks()};
        made.options.out = kSyncs[number % 3];
        ASSERT_NO_FATAL_FAILURE(try_blocks<std::uint8_t>(me, **team, made));
      }
    }
    ASSERT_TRUE((*team)->end());
    ASSERT_TRUE(me.barrier());
  });
}

// The settings hold for a job: one for each algorithm, the others are `auto`.
TEST_P(CollectiveBlocks, GiveTheRightResultsByEveryAlgorithm) {
  const std::array<Settings, 5> choices{{
      {{"coll_all_gather_v", "slots"}, {"coll_all_to_all_v", "slots"}},
      {{"coll_all_gather_v", "circulant"}, {"coll_all_to_all_v", "pairwise"}},
      {{"coll_all_gather_v", "ring"}, {"coll_all_to_all_v", "pairwise:window=2"}},
      {{"coll_all_gather_v", "circulant"}, {"coll_all_to_all_v", "pairwise:64"}, {"coll_scratch", "64K"}},
      {{"coll_all_gather_v", "ring"}, {"coll_all_to_all_v", "pairwise:3"}, {"coll_scratch", "64K"}},
  }};
  for (const Settings& settings : choices) {
    run({.ranks = many(), .segment_bytes = 4096, .settings = settings}, [settings,
                                                                         seed = seed()](Endpoint& me) {
      Random random(seed);
      auto some = me.world().split(me.rank() % 2, me.ranks() - me.rank());
      ASSERT_TRUE(some && *some);
      for (const auto& [operation, setting] :
           {std::pair(Collective::all_gather_v, 0), std::pair(Collective::all_to_all_v, 1)}) {
        const std::string& name = settings[setting].second;
        EXPECT_NE(me.world().explain(operation, 8).find("then " + name.substr(0, name.find(':'))),
                  std::string::npos)
            << me.world().explain(operation, 8);
      }
      for (int round = 0; round < 8; ++round) {
        for (const Collective operation : {Collective::all_gather_v, Collective::all_to_all_v}) {
          const BlocksCase made = random_case(random, operation, me.ranks(), round % 3 == 0 ? 20'000 : 20);
          ASSERT_NO_FATAL_FAILURE(try_blocks<std::uint8_t>(me, me.world(), made));
          ASSERT_NO_FATAL_FAILURE(try_blocks<std::int32_t>(me, **some, made));
        }
      }
      ASSERT_TRUE((*some)->end());
      ASSERT_TRUE(me.barrier());
    });
  }
}

TEST_P(CollectiveBlocks, MayAllBeEmpty) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [](Endpoint& me) {
    for (const Collective operation : kBlocksCollectives) {
      for (const CollForm form : kCollForms) {
        const BlocksCase made{.operation = operation, .number = 1, .most = 0, .form = form};
        ASSERT_NO_FATAL_FAILURE(try_blocks<double>(me, me.world(), made));
      }
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveBlocks, WorkOnTeamsOfOneAndOfSome) {
  as_each_of(std::min<Rank>(many(), 5), 4096, [seed = seed()](Endpoint& me) {
    auto alone = me.world().split(me.rank(), 0);
    auto some = me.world().split(me.rank() % 2, me.ranks() - me.rank());
    ASSERT_TRUE(alone && *alone && some && *some);
    Random random(seed);
    for (const Collective operation : kBlocksCollectives) {
      for (int round = 0; round < 3; ++round) {
        BlocksCase made = random_case(random, operation, 1, 50);
        ASSERT_NO_FATAL_FAILURE(try_blocks<std::int32_t>(me, **alone, made));
        ASSERT_NO_FATAL_FAILURE(try_blocks<std::int32_t>(me, **some, made));
      }
    }
    ASSERT_TRUE((*alone)->end());
    ASSERT_TRUE((*some)->end());
    ASSERT_TRUE(me.barrier());
  });
}

// Calls of other operations between them, waited for in the reverse order.
TEST_P(CollectiveBlocks, GoOnSideBySide) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [seed = seed()](Endpoint& me) {
    Random random(seed);
    for (int batch = 0; batch < 4; ++batch) {
      std::deque<BlocksTrial<std::int32_t>> trials;
      std::deque<Event> events;
      std::deque<std::uint64_t> sums;
      bool settles = false;
      for (int i = 0; i < 10; ++i) {
        const Collective operation = kBlocksCollectives[random.below(kBlocksCollectives.size())];
        BlocksCase made = random_case(random, operation, me.ranks(), i % 4 == 0 ? 30'000 : 30);
        if (made.form == CollForm::blocking) made.form = CollForm::nb;
        settles = settles || made.options.out == Sync::none;
        events.push_back(trials.emplace_back(me.world(), made).begin());
        sums.push_back(1);
        events.push_back(all_reduce_nb(me.world(), std::span(&sums.back(), 1), ReduceOp::sum));
      }
      while (!events.empty()) {
        const Status status = me.wait(std::move(events.back()));
        ASSERT_TRUE(status) << status.text();
        events.pop_back();
      }
      if (settles) {
        ASSERT_TRUE(settle(me.world()));
      }
      for (auto& trial : trials) {
        ASSERT_TRUE(trial.check());
        ASSERT_TRUE(trial.end());
      }
      for (const std::uint64_t sum : sums) ASSERT_EQ(sum, me.ranks());
    }
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectiveBlocks, PlansStartManyTimes) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [](Endpoint& me) {
    std::uint64_t number = 300;
    for (const Collective operation : kBlocksCollectives) {
      const BlocksCase made{.operation = operation,
                            .number = ++number,
                            .most = 33,
                            .root = me.ranks() - 1,
                            .form = CollForm::plan};
      BlocksTrial<std::int32_t> trial(me.world(), made);
      for (std::uint64_t round = 0; round < 30; ++round) {
        trial.reset(round);
        const Status status = me.wait(trial.begin());
        ASSERT_TRUE(status) << status.text() << ": start " << round << " of " << text_of(made);
        ASSERT_TRUE(trial.check());
      }
      ASSERT_TRUE(trial.end());
    }
    ASSERT_TRUE(me.barrier());
  });
}

/// How a call ended that must not hang.
ErrorCode blocks_end_soon(Endpoint& me, Event event) {
  const Status status = me.wait_for(event, kBlocksPatience);
  if (event.done()) return event.status().code();
  ADD_FAILURE() << "the call goes on: " << status.text();
  std::_Exit(kFailed);  // dropping the Event would be misuse
}
void expect_team_goes_on(Team& team) {
  std::uint64_t word = 1;
  const Status status = all_reduce(team, std::span(&word, 1), ReduceOp::sum);
  ASSERT_TRUE(status) << status.text();
  ASSERT_EQ(word, team.size());
}

// One end of one pair, in each direction, with calls before and after.
TEST_P(CollectiveBlocks, EndsThatDifferAreAMismatchOnAllMembers) {
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

TEST_P(CollectiveBlocks, ABlockThatTheRootGivesAnotherLengthIsAMismatch) {
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

TEST_P(CollectiveBlocks, PermutedBlocksOfDifferentLengthsAreAMismatch) {
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

TEST_P(CollectiveBlocks, DestinationsThatAreNoPermutationAreAMismatch) {
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
TEST_P(CollectiveBlocks, WrongArgumentsAreRefused) {
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
TEST_P(CollectiveBlocks, ACallThatOneMemberRefusesIsToldToAll) {
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

INSTANTIATE_TEST_SUITE_P(On, CollectiveBlocks, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
