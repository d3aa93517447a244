#include <aqueduct/signal.hpp>

#include "tests/conformance/collective_v.hpp"
#include "tests/conformance/fabric_test.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

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

INSTANTIATE_TEST_SUITE_P(On, CollectiveBlocks, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
