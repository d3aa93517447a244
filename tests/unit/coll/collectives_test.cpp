// The collective operations of jobs whose ranks are threads of this process.

#include <aqueduct/aqueduct.hpp>

#include "coll/algorithms/algorithms.hpp"
#include "coll/schedule/schedule.hpp"
#include "coll/tune/operation_word.hpp"
#include "tests/conformance/collective.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

using conformance::coll_call;
using conformance::coll_result;
using conformance::CollectiveCall;

/// Input element i of a member.
std::int64_t plain_value(Rank member, std::uint64_t i) { return static_cast<std::int64_t>(i * 100 + member); }

class CollectiveJobs : public testing::Test {
 protected:
  void start(Rank ranks, const support::Settings& settings = {}) {
    support::start_over_loop(job_, ranks, settings);
  }
  static std::uint64_t row(Endpoint& ep, const std::string& name) {
    for (const StatisticsRow& one : ep.statistics_rows()) {
      if (one.name == name) return *one.counter;
    }
    ADD_FAILURE() << "there is no row " << name;
    return 0;
  }
  static std::uint64_t uses(Endpoint& ep, const Algorithm& algorithm) {
    return row(ep, std::string(operation_word(algorithm.operation)) + '_' + std::string(algorithm.name));
  }
  /// Makes the call with memory of this rank's own, and compares its output with the model.
  static void call_as_model(Team& team, const CollectiveCall& call) {
    const Rank members = team.size();
    std::vector<std::int64_t> input(call.count * blocks_in_of(call, members));
    for (std::uint64_t i = 0; i < input.size(); ++i) input[i] = plain_value(team.index(), i);
    std::vector<std::int64_t> output(call.count * conformance::blocks_out(call.operation, members));
    const auto expected = coll_result<std::int64_t>(
        call, members, team.index(), plain_value, [](std::int64_t a, std::int64_t b) { return a + b; },
        output);
    std::span<const std::int64_t> in = input;
    std::span<std::int64_t> out = output;
    const Status status = coll_call<conformance::BlockingCalls>(team, call, in, out);
    ASSERT_TRUE(status) << status.text() << ": " << operation_word(call.operation) << " of " << call.count;
    ASSERT_EQ(output, expected) << operation_word(call.operation) << " of " << call.count << ", root "
                                << call.root << ", member " << team.index() << " of " << members;
  }

  std::optional<Job> job_;

 private:
  static std::uint64_t blocks_in_of(const CollectiveCall& call, Rank members) {
    return conformance::blocks_in(call.operation, members);
  }
};

TEST_F(CollectiveJobs, OfSeventeenRanksEqualTheModel) {
  start(17);
  job_->run_each([](Endpoint& ep) {
    for (const Collective operation : conformance::kCollectives) {
      for (const Rank root : {0u, 16u, 5u}) {
        for (const std::uint64_t count : {0u, 1u, 3u, 400u}) {
          if (root != 0 && !conformance::has_root(operation)) continue;
          ASSERT_NO_FATAL_FAILURE(
              call_as_model(ep.world(), {.operation = operation, .count = count, .root = root}));
        }
      }
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

TEST_F(CollectiveJobs, AreCountedByAlgorithm) {
  start(3, {{"coll_all_reduce", "tree"}, {"coll_broadcast", "flat"}});
  job_->run_each([](Endpoint& ep) {
    const std::uint64_t before = row(ep, "collectives");
    for (int i = 0; i < 5; ++i)
      ASSERT_NO_FATAL_FAILURE(call_as_model(ep.world(), {.operation = Collective::all_reduce, .count = 4}));
    for (int i = 0; i < 2; ++i)
      ASSERT_NO_FATAL_FAILURE(call_as_model(ep.world(), {.operation = Collective::broadcast, .count = 4}));
    EXPECT_EQ(uses(ep, kAllReduceTree), 5u);
    EXPECT_EQ(uses(ep, kBroadcastFlat), 2u);
    EXPECT_EQ(row(ep, "collectives") - before, 7u);
    // One that is refused is none, and a plan is one at each start.
    std::array<std::uint64_t, 2> data{};
    EXPECT_EQ(broadcast(ep.world(), data, 3).code(), ErrorCode::invalid_argument);
    auto plan = all_reduce_plan(ep.world(), data, ReduceOp::sum);
    ASSERT_TRUE(plan) << plan.status().text();
    EXPECT_EQ(row(ep, "collectives") - before, 7u);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(plan->run());
    ASSERT_TRUE(plan->end());
    EXPECT_EQ(uses(ep, kAllReduceTree), 8u);
    EXPECT_EQ(row(ep, "collectives") - before, 10u);
    ASSERT_TRUE(ep.barrier());
  });
}

// The formula of `cost`, which aqcheck proves of the schedules, is what goes over the wire.
TEST_F(CollectiveJobs, SendAsManyMessagesAsTheirFormulaSays) {
  start(5, {{"coll_all_reduce", "multiplying:3"}, {"coll_broadcast", "k-nomial:2,1"}});
  std::atomic<std::uint64_t> sent{0};
  const auto count_calls = [&](const Algorithm& algorithm, const CollectiveCall& call) {
    sent = 0;
    std::atomic<bool> crowded{false};  // five ranks on fewer processors send fewer signals
    job_->run_each([&](Endpoint& ep) {
      if (ep.state().crowded[ep.rank()]) crowded = true;
      const std::uint64_t before = row(ep, "collective_messages");
      for (int i = 0; i < 3; ++i) ASSERT_NO_FATAL_FAILURE(call_as_model(ep.world(), call));
      sent += row(ep, "collective_messages") - before;
    });
    Shape shape;
    shape.operation = call.operation;
    shape.ranks = 5;
    shape.element = sizeof(std::int64_t);
    shape.bytes = shape.pitch = call.count * sizeof(std::int64_t);
    shape.parameters = {algorithm.operation == Collective::all_reduce ? 3u : 2u, 1, 0};
    shape.few_signals = crowded;
    EXPECT_EQ(sent.load(), 3 * Schedule::cost(algorithm, shape).messages) << algorithm.name;
  };
  count_calls(kAllReduceMultiplying, {.operation = Collective::all_reduce, .count = 4});
  count_calls(kBroadcastKNomial, {.operation = Collective::broadcast, .count = 9});
}

// Scratch that has been used is given back by messages of its own.
TEST_F(CollectiveJobs, CountTheMessagesOfTheirScratch) {
  start(3, {{"coll_scratch", "64K"}});
  job_->run_each([](Endpoint& ep) {
    ASSERT_NO_FATAL_FAILURE(call_as_model(ep.world(), {.operation = Collective::all_gather, .count = 2}));
    EXPECT_EQ(row(ep, "collective_control"), 0u) << "nothing has to be given back yet";
    for (int i = 0; i < 100; ++i)
      ASSERT_NO_FATAL_FAILURE(call_as_model(ep.world(), {.operation = Collective::all_gather, .count = 100}));
    const std::uint64_t control = row(ep, "collective_control");
    EXPECT_GT(control, 0u);
    EXPECT_LT(control, row(ep, "collective_messages")) << "much fewer than what they are for";
    ASSERT_TRUE(ep.barrier());
  });
}

TEST_F(CollectiveJobs, AreExplainedAsTheyRun) {
  start(4);
  job_->run_each([](Endpoint& ep) {
    for (const Collective operation : conformance::kCollectives) {
      for (const std::uint64_t count : {1u, 1000u, 20'000u}) {
        const std::string text = ep.world().explain(operation, count * 8, 8);
        // The second line: "  name:parameter=…".
        const std::size_t begin = text.find("\n  ");
        ASSERT_NE(begin, std::string::npos) << text;
        const std::string name = text.substr(begin + 3, text.find_first_of(":\n", begin + 3) - begin - 3);
        const Algorithm* const algorithm = find_algorithm(operation, name);
        ASSERT_NE(algorithm, nullptr) << text;
        const std::uint64_t before = uses(ep, *algorithm);
        ASSERT_NO_FATAL_FAILURE(call_as_model(ep.world(), {.operation = operation, .count = count}));
        EXPECT_EQ(uses(ep, *algorithm), before + 1) << text;
      }
    }
    ASSERT_TRUE(ep.barrier());
  });
}

TEST_F(CollectiveJobs, ThatASettingForcesAreExplained) {
  start(3,
        {{"coll_broadcast", "direct"}, {"coll_reduce", "chain:segments=3"}, {"coll_all_gather", "doubling"}});
  job_->run_each([](Endpoint& ep) {
    Team& world = ep.world();
    const std::string chain = world.explain(Collective::reduce, 8000, 8);
    EXPECT_NE(chain.find("chain:segments=3 (a setting asks for it)"), std::string::npos) << chain;
    const std::string none = world.explain(Collective::all_gather, 8, 8);
    EXPECT_NE(none.find("none: a setting asks for the algorithm doubling"), std::string::npos) << none;
    EXPECT_NE(none.find("it needs a power of two members"), std::string::npos) << none;
    std::array<std::uint64_t, 3> data{};
    EXPECT_EQ(all_gather(world, data).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(all_gather_plan(world, data).status().code(), ErrorCode::invalid_argument);
    const std::string direct = world.explain(Collective::broadcast, 8, 8);
    EXPECT_NE(direct.find("direct:radix=4 (a setting asks for it)"), std::string::npos) << direct;
    EXPECT_NE(direct.find("members announce"), std::string::npos) << direct;
    ASSERT_NO_FATAL_FAILURE(call_as_model(world, {.operation = Collective::broadcast, .count = 50}));
    ASSERT_NO_FATAL_FAILURE(call_as_model(world, {.operation = Collective::reduce, .count = 50}));
    ASSERT_TRUE(ep.barrier());
  });
}

// One member does not call, so the call of the other cannot end otherwise.
TEST_F(CollectiveJobs, InFlightAreClosedWhenTheirTeamIsDestroyed) {
  start(2);
  job_->run_each([](Endpoint& ep) {
    const std::array<Rank, 2> both{0, 1};
    for (std::uint64_t tag = 0; tag < 3; ++tag) {
      auto made = Team::create(ep, both, tag);
      ASSERT_TRUE(made) << made.status().text();
      std::optional<Team> team(*std::move(made));
      std::array<std::int64_t, 100> first{}, second{};
      Event one, two;
      CollPlan plan;
      if (ep.rank() == 0) {
        auto bound = broadcast_plan(*team, second, 1);
        ASSERT_TRUE(bound) << bound.status().text();
        plan = *std::move(bound);
        one = all_reduce_nb(*team, first, ReduceOp::sum);
        two = plan.start();
        for (int i = 0; i < 20; ++i) ep.progress();
        EXPECT_FALSE(one.done());
        EXPECT_FALSE(two.done());
      }
      team.reset();
      if (ep.rank() == 0) {
        EXPECT_EQ(ep.wait(one).code(), ErrorCode::closed);
        EXPECT_EQ(ep.wait(two).code(), ErrorCode::closed);
      }
      // Other teams go on.
      ASSERT_NO_FATAL_FAILURE(call_as_model(ep.world(), {.operation = Collective::all_reduce, .count = 100}));
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// Nobody holds an Event of them: their blocking calls have timed out.
TEST_F(CollectiveJobs, ThatAreNotOverDoNotKeepAJobFromFinishing) {
  start(3);
  std::array<std::array<std::int64_t, 500>, 3> data{};  // until the job is over
  std::optional<CollPlan> left;
  job_->run_each([&](Endpoint& ep) {
    if (ep.rank() != 2) {
      CollOptions options;
      options.limit = std::chrono::milliseconds(5);
      std::array<std::int64_t, 500>& mine = data[ep.rank()];
      EXPECT_EQ(all_reduce(ep.world(), mine, ReduceOp::sum, options).code(), ErrorCode::timed_out);
      if (ep.rank() == 0) {
        auto plan = all_reduce_plan(ep.world(), data[2], ReduceOp::sum, options);
        ASSERT_TRUE(plan) << plan.status().text();
        left.emplace(*std::move(plan));
        EXPECT_EQ(left->run().code(), ErrorCode::timed_out);
      }
    }
  });
  EXPECT_TRUE(job_->finish());
  job_.reset();
  // A plan may be used, and destroyed, after its job.
  EXPECT_EQ(left->start().status().code(), ErrorCode::closed);
  EXPECT_EQ(left->run().code(), ErrorCode::closed);
  EXPECT_EQ(left->end().code(), ErrorCode::closed);
  left.reset();
}

TEST_F(CollectiveJobs, GoOnAfterAMemberHasCalledLate) {
  start(2);
  std::atomic<int> late{0};
  job_->run_each([&](Endpoint& ep) {
    Team& world = ep.world();
    CollOptions impatient;
    impatient.limit = std::chrono::milliseconds(5);
    for (int round = 1; round <= 3; ++round) {
      std::array<std::int64_t, 40> word{}, planned{};
      word.fill(round + ep.rank());
      planned.fill(10 * round + ep.rank());
      auto plan = all_reduce_plan(world, planned, ReduceOp::max, ep.rank() == 0 ? impatient : CollOptions{});
      ASSERT_TRUE(plan) << plan.status().text();
      if (ep.rank() == 0) {
        EXPECT_EQ(all_reduce(world, word, ReduceOp::sum, impatient).code(), ErrorCode::timed_out);
        EXPECT_EQ(plan->run().code(), ErrorCode::timed_out);
        EXPECT_EQ(plan->end().code(), ErrorCode::invalid_argument) << "it is running";
        late = round;
      } else {
        ASSERT_TRUE(ep.wait_until([&] { return late.load() == round; }, std::chrono::seconds(20)));
        ASSERT_TRUE(all_reduce(world, word, ReduceOp::sum));
        ASSERT_TRUE(plan->run());
      }
      // The calls that have timed out are over when a later one of the team with Sync::all is.
      ASSERT_NO_FATAL_FAILURE(call_as_model(world, {.operation = Collective::all_to_all, .count = 3}));
      for (const std::int64_t sum : word) ASSERT_EQ(sum, 2 * round + 1);
      for (const std::int64_t most : planned) ASSERT_EQ(most, 10 * round + 1);
      ASSERT_TRUE(plan->end());
    }
    ASSERT_TRUE(ep.barrier());
  });
}

// Their steps are written down for one root at a time, and the runs of earlier calls use them. Plans have steps of their own.
TEST_F(CollectiveJobs, OfOneShapeGoOnThoughTheirRootChanges) {
  start(3);
  job_->run_each([&](Endpoint& ep) {
    Team& world = ep.world();
    std::array<std::array<std::int64_t, 3>, 3> planned{};
    std::array<CollPlan, 3> plans;
    for (Rank root = 0; root < 3; ++root) {
      auto plan = broadcast_plan(world, planned[root], root);
      ASSERT_TRUE(plan) << plan.status().text();
      plans[root] = *std::move(plan);
    }
    for (std::int64_t round = 1; round <= 30; ++round) {
      const auto of = [&](Rank root) { return 10 * round + root; };
      std::array<std::array<std::int64_t, 3>, 3> called{};
      std::array<Event, 6> events;
      // The root stays for three rounds, and changes while calls with the former one are in flight.
      for (Rank i = 0; i < 3; ++i) {
        const Rank root = (static_cast<Rank>(round / 3) + i) % 3;
        if (ep.rank() == root) planned[root].fill(of(root)), called[root].fill(-of(root));
        events[2 * i] = plans[root].start();
        events[2 * i + 1] = broadcast_nb(world, called[root], root);
      }
      for (Event& event : events) ASSERT_TRUE(ep.wait(event));
      for (Rank root = 0; root < 3; ++root) {
        EXPECT_EQ(planned[root].back(), of(root));
        EXPECT_EQ(called[root].back(), -of(root));
      }
    }
    for (CollPlan& plan : plans) ASSERT_TRUE(plan.end());
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// A second start is refused here and told to the other member, whose next call would be taken for it.
TEST_F(CollectiveJobs, OfAPlanThatHasTimedOutCannotBeStartedAgainBeforeTheyAreOver) {
  start(2);
  std::atomic<bool> tried{false};
  job_->run_each([&](Endpoint& ep) {
    auto team = ep.world().split(0, ep.rank());
    ASSERT_TRUE(team && *team);
    CollOptions impatient;
    impatient.limit = std::chrono::milliseconds(5);
    std::array<std::int64_t, 4> words{};
    words.fill(ep.rank());
    auto plan = all_reduce_plan(**team, words, ReduceOp::max, ep.rank() == 0 ? impatient : CollOptions{});
    ASSERT_TRUE(plan) << plan.status().text();
    if (ep.rank() == 0) {
      EXPECT_EQ(plan->run().code(), ErrorCode::timed_out);
      EXPECT_EQ(plan->start().status().code(), ErrorCode::invalid_argument) << "it is running";
      tried = true;
    } else {
      ASSERT_TRUE(ep.wait_until([&] { return tried.load(); }, std::chrono::seconds(20)));
      ASSERT_TRUE(plan->run()) << "the first start goes on";
    }
    std::int64_t word = 1;
    EXPECT_EQ(all_reduce(**team, std::span(&word, 1), ReduceOp::sum).code(), ErrorCode::mismatch);
    EXPECT_EQ(words[0], 1);
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

void subtract_words(void* to, const void* left, const void* right, std::size_t count, void* context) {
  for (std::size_t i = 0; i < count; ++i)
    static_cast<std::int64_t*>(to)[i] = static_cast<const std::int64_t*>(left)[i] -
                                        static_cast<const std::int64_t*>(right)[i] +
                                        *static_cast<const std::int64_t*>(context);
}

// All members refuse it alike, so no rank is named, and nothing is broken.
TEST_F(CollectiveJobs, WhoseElementExceedsTheScratchAreRefusedByAll) {
  start(2);
  job_->run_each([](Endpoint& ep) {
    struct Large {
      std::array<std::byte, std::size_t{64} << 20> bytes;
    };
    const auto nothing = [](void*, const void*, const void*, std::size_t, void*) {};
    ASSERT_TRUE(add_operator(ep, 4, {nothing, nullptr, sizeof(Large), true}));
    const std::unique_ptr<Large[]> in(new Large[1]), out(new Large[1]);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(all_reduce(ep.world(), std::span(in.get(), 1), std::span(out.get(), 1), Reducer::user(4)),
                Status(ErrorCode::no_memory));
    }
    std::int64_t word = 1;
    ASSERT_TRUE(all_reduce(ep.world(), std::span(&word, 1), ReduceOp::sum));
    EXPECT_EQ(word, 2);
    ASSERT_TRUE(ep.barrier());
  });
}

// Plans keep what they were bound with, however many operators come later.
TEST_F(CollectiveJobs, OfPlansGoOnWhenOperatorsAreAdded) {
  start(2);
  job_->run_each([](Endpoint& ep) {
    Team& world = ep.world();
    std::int64_t extra = 1000;
    const UserOperator subtract{subtract_words, &extra, sizeof(std::int64_t), false};
    std::array<std::int64_t, 3> in{}, sums{}, differences{};
    auto sum = all_reduce_plan(world, in, sums, ReduceOp::sum);
    ASSERT_TRUE(sum) << sum.status().text();
    EXPECT_EQ(all_reduce_plan(world, in, differences, Reducer::user(3)).status().code(),
              ErrorCode::invalid_argument)
        << "nobody has added it";
    ASSERT_TRUE(add_operator(ep, 3, subtract));
    auto difference = all_reduce_plan(world, in, differences, Reducer::user(3));
    ASSERT_TRUE(difference) << difference.status().text();
    for (std::uint32_t number = 100; number < 400; ++number) {
      std::int64_t* const other = &extra;
      ASSERT_TRUE(add_operator(ep, number, {subtract_words, other, sizeof(std::int64_t), false}));
      if (number % 100 != 0) continue;
      in.fill(ep.rank() == 0 ? 50 + number : 8);
      ASSERT_TRUE(sum->run());
      ASSERT_TRUE(difference->run());
      for (const std::int64_t found : sums) EXPECT_EQ(found, 58 + number);
      for (const std::int64_t found : differences) EXPECT_EQ(found, 42 + 1000 + number);
    }
    ASSERT_TRUE(sum->end());
    ASSERT_TRUE(difference->end());
    ASSERT_TRUE(ep.barrier());
  });
}

}  // namespace
}  // namespace aqueduct::coll
