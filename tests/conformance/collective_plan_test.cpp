#include <aqueduct/signal.hpp>

#include "tests/conformance/collective_trial.hpp"
#include "tests/conformance/fabric_test.hpp"

#include <deque>
#include <optional>

namespace aqueduct::conformance {
namespace {

/// Calls that are bound once and started many times.
class CollectivePlans : public FabricTest {};

constexpr SignalSlot kPlanStarted = 6;

TEST_P(CollectivePlans, OfEveryOperationStartAHundredTimes) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [starts = often(std::uint64_t{100})](Endpoint& me) {
    for (const Collective operation : kCollectives) {
      constexpr std::uint64_t kCount = 5;
      const CollectiveCall call{.operation = operation, .count = kCount, .root = me.ranks() - 1};
      std::vector<std::int32_t> input(kCount * blocks_in(operation, me.ranks()));
      std::vector<std::int32_t> output(kCount * blocks_out(operation, me.ranks()));
      std::span<const std::int32_t> in = input;
      std::span<std::int32_t> out = output;
      auto plan = coll_call<Plans>(me.world(), call, in, out);
      ASSERT_TRUE(plan) << plan.status().text() << ": " << text_of(call);
      for (std::uint64_t round = 0; round < starts; ++round) {
        for (std::uint64_t i = 0; i < input.size(); ++i)
          input[i] = coll_value<std::int32_t>(round, me.rank(), i);
        const auto expected = coll_result<std::int32_t>(
            call, me.ranks(), me.rank(),
            [&](Rank from, std::uint64_t i) { return coll_value<std::int32_t>(round, from, i); },
            [](std::int32_t a, std::int32_t b) { return coll_combined(ReduceOp::sum, a, b); }, output);
        const Status status = plan->run();
        ASSERT_TRUE(status) << status.text() << ": start " << round << " of " << text_of(call);
        ASSERT_EQ(output, expected) << "start " << round << " of " << text_of(call);
      }
      ASSERT_TRUE(plan->end()) << text_of(call);
    }
    ASSERT_TRUE(me.barrier());
  });
}

// All nine modes, places that all members know, and single calls in between.
TEST_P(CollectivePlans, InAlternationWithEachOtherAndWithCalls) {
  as_each_of(std::min<Rank>(many(), 4), 4096, [seed = seed()](Endpoint& me) {
    constexpr std::uint64_t kCount = 8;
    std::deque<CollMemory> memories;
    std::deque<CollTrial<std::int32_t>> trials;
    std::vector<Sync> ins, outs;
    Random random(seed);
    for (std::uint64_t i = 0; i < 12; ++i) {
      ASSERT_TRUE(memories.emplace_back(me.world(), kCount * 4 * me.ranks()).ok());
      const Collective operation = kCollectives[random.below(kCollectives.size())];
      CollectiveCall call{.operation = operation,
                          .count = random.below(kCount + 1),
                          .root = static_cast<Rank>(random.below(me.ranks())),
                          .place = kCollPlaces[random.below(kCollPlaces.size())],
                          .form = CollForm::plan};
      call.options.in = kSyncs[random.below(3)];
      call.options.out = kSyncs[random.below(3)];
      ins.push_back(call.options.in);
      outs.push_back(call.options.out);
      trials.emplace_back(memories.back(), me.world(), call, i);
    }
    for (int round = 0; round < 15; ++round) {
      // Two at a time in flight.
      const std::size_t one = random.below(trials.size());
      const std::size_t two = (one + 1 + random.below(trials.size() - 1)) % trials.size();
      if (ins[one] == Sync::none || ins[two] == Sync::none) {
        ASSERT_TRUE(me.barrier());
      }
      Event first = trials[one].begin();
      Event second = trials[two].begin();
      std::uint64_t sum = 1;
      ASSERT_TRUE(all_reduce(me.world(), std::span(&sum, 1), ReduceOp::sum));
      EXPECT_EQ(sum, me.ranks());
      ASSERT_TRUE(me.wait(second));
      ASSERT_TRUE(me.wait(first));
      if (outs[one] == Sync::none || outs[two] == Sync::none) {
        ASSERT_TRUE(settle(me.world()));
      }
      ASSERT_TRUE(trials[one].check()) << "round " << round;
      ASSERT_TRUE(trials[two].check()) << "round " << round;
    }
    for (auto& trial : trials) ASSERT_TRUE(trial.end());
    for (auto& memory : memories) ASSERT_TRUE(memory.release());
  });
}

// More plans than there are places that they could keep.
TEST_P(CollectivePlans, AreBoundInAnyNumber) {
  as_each_of(3, 4096, [](Endpoint& me) {
    constexpr std::size_t kPlans = 60;
    std::array<std::uint64_t, kPlans> words{};
    for (int turn = 0; turn < 2; ++turn) {
      std::vector<CollPlan> plans;
      for (std::size_t i = 0; i < kPlans; ++i) {
        auto plan = i % 2 == 0
                        ? all_reduce_plan(me.world(), std::span(&words[i], 1), ReduceOp::sum)
                        : broadcast_plan(me.world(), std::span(&words[i], 1), static_cast<Rank>(i % 3));
        ASSERT_TRUE(plan) << plan.status().text() << ": plan " << i;
        plans.push_back(*std::move(plan));
      }
      for (std::uint64_t round = 0; round < 5; ++round) {
        std::vector<Event> events;
        events.reserve(kPlans);
        for (std::size_t i = 0; i < kPlans; ++i) words[i] = round + i + me.rank();
        for (CollPlan& plan : plans) events.push_back(plan.start());
        for (std::size_t i = kPlans; i-- > 0;) {
          ASSERT_TRUE(me.wait(events[i])) << "plan " << i;
          EXPECT_EQ(words[i], i % 2 == 0 ? 3 * (round + i) + 3 : round + i + i % 3) << "plan " << i;
        }
      }
      for (CollPlan& plan : plans) ASSERT_TRUE(plan.end());
    }
    ASSERT_TRUE(me.barrier());
  });
}

// Rank 1 does not call before rank 0 has seen that its first start goes on undisturbed.
TEST_P(CollectivePlans, ThatAreInFlightCannotBeEnded) {
  as_each_of(2, 4096, [](Endpoint& me) {
    std::uint64_t word = me.rank() + 1;
    auto plan = all_reduce_plan(me.world(), std::span(&word, 1), ReduceOp::sum);
    ASSERT_TRUE(plan) << plan.status().text();
    for (std::uint64_t round = 1; round <= 3; ++round) {
      word = me.rank() + 1;
      if (me.rank() == 0) {
        Event event = plan->start();
        EXPECT_FALSE(event.done());
        EXPECT_EQ(plan->end().code(), ErrorCode::invalid_argument);
        ASSERT_TRUE(signal(me, 1, {kPlanStarted, 1}));
        ASSERT_TRUE(me.wait(event));
      } else {
        ASSERT_TRUE(wait_until(me, kPlanStarted, round, 0, std::chrono::seconds(20)));
        ASSERT_TRUE(plan->run());
      }
      EXPECT_EQ(word, 3u);
    }
    ASSERT_TRUE(plan->end());
    ASSERT_TRUE(me.barrier());
  });
}

// A second start is a call that this member refuses. It is told to the others: where the first start is over already, the
// second one counts, and would be taken for the third one here.
TEST_P(CollectivePlans, ThatAreInFlightCannotBeStartedAndAllMembersAreTold) {
  as_each_of(2, 4096, [](Endpoint& me) {
    auto team = me.world().split(0, me.rank());
    ASSERT_TRUE(team && *team);
    std::uint64_t word = me.rank() + 1;
    auto plan = all_reduce_plan(**team, std::span(&word, 1), ReduceOp::sum);
    ASSERT_TRUE(plan) << plan.status().text();
    if (me.rank() == 0) {
      Event event = plan->start();
      EXPECT_FALSE(event.done());
      EXPECT_EQ(plan->start().status().code(), ErrorCode::invalid_argument);
      ASSERT_TRUE(signal(me, 1, {kPlanStarted, 1}));
      ASSERT_TRUE(me.wait(event)) << "the call before goes on";
    } else {
      ASSERT_TRUE(wait_until(me, kPlanStarted, 1, 0, std::chrono::seconds(20)));
      ASSERT_TRUE(plan->run());
    }
    EXPECT_EQ(word, 3u);
    std::uint64_t other = 1;
    EXPECT_EQ(all_reduce(**team, std::span(&other, 1), ReduceOp::sum).code(), ErrorCode::mismatch);
    EXPECT_EQ(plan->run().code(), ErrorCode::mismatch);
    ASSERT_TRUE((*team)->end());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectivePlans, WithoutAnOperationSaySo) {
  as_each_of(2, 4096, [](Endpoint& me) {
    CollPlan none;
    EXPECT_EQ(none.start().status().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(none.run().code(), ErrorCode::invalid_argument);
    std::uint64_t word = 1;
    auto plan = all_reduce_plan(me.world(), std::span(&word, 1), ReduceOp::sum);
    ASSERT_TRUE(plan) << plan.status().text();
    CollPlan moved = std::move(*plan);
    EXPECT_EQ(plan->run().code(), ErrorCode::invalid_argument) << "it was moved from";  // NOLINT: on purpose
    ASSERT_TRUE(moved.run());
    EXPECT_EQ(word, 2u);
    ASSERT_TRUE(moved.end());
    EXPECT_EQ(moved.run().code(), ErrorCode::invalid_argument) << "it has ended";
    moved = CollPlan();
    // The team has noticed nothing.
    ASSERT_TRUE(all_reduce(me.world(), std::span(&word, 1), ReduceOp::sum));
    EXPECT_EQ(word, 4u);
    ASSERT_TRUE(me.barrier());
  });
}

// The next segment may have the same memory.
TEST_P(CollectivePlans, KeepTheirSegmentsFromBeingReleased) {
  as_each_of(std::min<Rank>(many(), 3), 4096, [](Endpoint& me) {
    Team& team = me.world();
    auto segment = Segment::create<std::int32_t>(team, 64);
    ASSERT_TRUE(segment);
    const auto fails_everywhere = [&](Rank whose) {
      const Status status = segment->release();
      EXPECT_EQ(status.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(status.peer(), whose);
    };
    std::array<std::int32_t, 4> own{};
    for (const bool known : {true, false}) {
      SCOPED_TRACE(known);
      // A place that all members know; and one that only the last member has in the segment.
      const Rank last = me.ranks() - 1;
      const std::span<std::int32_t> mine =
          me.rank() == last ? std::span(segment->mine()).subspan(8, 4) : std::span(own);
      auto plan = known ? broadcast_plan(team, on_all(*segment, 8, 4), 0) : broadcast_plan(team, mine, 0);
      ASSERT_TRUE(plan);
      ASSERT_NO_FATAL_FAILURE(fails_everywhere(known ? 0 : last));
      ASSERT_TRUE(plan->run());
      ASSERT_TRUE(plan->end());
    }
    { auto dropped = broadcast_plan(team, on_all(*segment, 8, 4), 0); }
    ASSERT_TRUE(segment->release());
    ASSERT_TRUE(me.barrier());
  });
}

TEST_P(CollectivePlans, OfATeamThatHasEndedAreClosed) {
  as_each_of(2, 4096, [](Endpoint& me) {
    std::uint64_t word = 1;
    std::optional<CollPlan> kept, dropped;
    {
      auto team = me.world().split(0, me.rank());
      ASSERT_TRUE(team && *team);
      for (auto* plan : {&kept, &dropped}) {
        auto bound = all_reduce_plan(**team, std::span(&word, 1), ReduceOp::sum);
        ASSERT_TRUE(bound) << bound.status().text();
        plan->emplace(*std::move(bound));
        ASSERT_TRUE((*plan)->run());
      }
      EXPECT_EQ(word, 4u);
      dropped.reset();  // without an end: its scratch stays taken until the team ends
      ASSERT_TRUE((*team)->end());
      EXPECT_EQ(kept->start().status().code(), ErrorCode::closed);
      for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(kept->end().code(), ErrorCode::closed);
        EXPECT_EQ(kept->run().code(), ErrorCode::closed);
      }
      kept.reset();
    }
    ASSERT_TRUE(me.barrier());
  });
}

INSTANTIATE_TEST_SUITE_P(On, CollectivePlans, testing::ValuesIn(fabrics()), fabric_name);

}  // namespace
}  // namespace aqueduct::conformance
