// Collective operations that the conduit carries out: jobs whose ranks are threads of this process, over loop.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>
#include <aqueduct/tune.hpp>

#include "coll/algorithms/algorithms.hpp"
#include "coll/engine/checked_request.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/tune/operation_word.hpp"
#include "conduits/loop/loop_collectives.hpp"
#include "tests/conformance/collective.hpp"
#include "tests/support/loop_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

using testing::HasSubstr;

std::int64_t native_value(Rank member, std::uint64_t i) {
  return static_cast<std::int64_t>(i * 1000 + member + 1);
}

CollOptions native_modes(Sync in, Sync out) {
  CollOptions options;
  options.in = in;
  options.out = out;
  return options;
}

class NativeJobs : public testing::Test {
 protected:
  void start(Rank ranks, support::Settings settings = {}) {
    settings.insert(settings.begin(), {{"loop_native", "rma"}, {"loop_collectives", "on"}});
    support::start_over_loop(job_, ranks, settings);
  }
  void known_types_only(Rank rank) {
    dynamic_cast<conduits::loop::LoopNativeCollectives&>(
        *job_->endpoint(rank).state().conduit(rank == 0 ? 1 : 0).collectives())
        .combine_known_types_only();
  }
  /// How often this rank has left an operation to its conduit.
  static std::uint64_t natives(Endpoint& ep, Collective operation) {
    const std::string name = std::string(operation_word(operation)) + "_native";
    for (const StatisticsRow& one : ep.statistics_rows()) {
      if (one.name == name) return *one.counter;
    }
    ADD_FAILURE() << "there is no row " << name;
    return 0;
  }
  static void call_as_model(Team& team, const conformance::CollectiveCall& call) {
    const Rank members = team.size();
    std::vector<std::int64_t> input(call.count * conformance::blocks_in(call.operation, members));
    for (std::uint64_t i = 0; i < input.size(); ++i) input[i] = native_value(team.index(), i);
    std::vector<std::int64_t> output(call.count * conformance::blocks_out(call.operation, members));
    const auto expected = conformance::coll_result<std::int64_t>(
        call, members, team.index(), native_value, [](std::int64_t a, std::int64_t b) { return a + b; },
        output);
    std::span<const std::int64_t> in = input;
    std::span<std::int64_t> out = output;
    const Status status = conformance::coll_call<conformance::BlockingCalls>(team, call, in, out);
    ASSERT_TRUE(status) << status.text() << ": " << operation_word(call.operation) << " of " << call.count;
    ASSERT_EQ(output, expected) << operation_word(call.operation) << " of " << call.count << ", root "
                                << call.root << ", member " << team.index() << " of " << members;
  }

  std::optional<Job> job_;
};

// The longest ones are too long for loop, so the library carries them out between the others.
TEST_F(NativeJobs, EqualTheModel) {
  start(5);
  job_->run_each([](Endpoint& ep) {
    for (const Collective operation : conformance::kCollectives) {
      const std::uint64_t before = natives(ep, operation);
      std::uint64_t short_ones = 0;
      for (const Sync in : {Sync::mine, Sync::all}) {
        for (const Sync out : {Sync::mine, Sync::all}) {
          for (const Rank root : {0u, 4u}) {
            if (root != 0 && !conformance::has_root(operation)) continue;
            for (const std::uint64_t count : {0u, 1u, 30u, 2000u}) {
              conformance::CollectiveCall call{.operation = operation, .count = count, .root = root};
              call.options = native_modes(in, out);
              ASSERT_NO_FATAL_FAILURE(call_as_model(ep.world(), call));
              if (count == 1 || count == 30) ++short_ones;
            }
          }
        }
      }
      EXPECT_EQ(natives(ep, operation) - before, short_ones) << operation_word(operation);
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// Elements that are converted are wide ones for the conduit too.
TEST_F(NativeJobs, CombineConvertedElements) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    for (const std::size_t count : {std::size_t{3}, std::size_t{500}, std::size_t{5000}}) {
      std::vector<Half> in(count, to_half(1.5F)), out(count);
      const Status status =
          all_reduce(ep.world(), std::span<const Half>(in), std::span<Half>(out), ReduceOp::sum);
      ASSERT_TRUE(status) << status.text();
      for (const Half value : out) ASSERT_EQ(to_float(value), 4.5F) << count;
    }
    EXPECT_GT(natives(ep, Collective::all_reduce), 0u);
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// Some wait for a pass and some do not, so they could be started in another order on each member.
TEST_F(NativeJobs, GoOnSideBySide) {
  start(4);
  job_->run_each([](Endpoint& ep) {
    constexpr std::uint64_t kEvents = 60;
    for (int round = 0; round < 5; ++round) {
      std::vector<std::uint64_t> data(kEvents, ep.rank() + 1);
      std::vector<Event> events;
      for (std::uint64_t i = 0; i < kEvents; ++i) {
        const Sync in = i % 3 == 0 ? Sync::all : Sync::mine;
        events.push_back(all_reduce_nb(ep.world(), std::span(data).subspan(i, 1),
                                       i % 2 == 0 ? ReduceOp::sum : ReduceOp::max,
                                       native_modes(in, Sync::mine)));
      }
      for (Event& event : events) {
        const Status status = ep.wait(event);
        ASSERT_TRUE(status) << status.text();
      }
      for (std::uint64_t i = 0; i < kEvents; ++i) ASSERT_EQ(data[i], i % 2 == 0 ? 10u : 4u) << i;
    }
    EXPECT_EQ(natives(ep, Collective::all_reduce), 5 * kEvents);
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

TEST_F(NativeJobs, ServePlansAndTeamsOfSomeRanks) {
  start(4);
  job_->run_each([](Endpoint& ep) {
    for (int round = 0; round < 3; ++round) {
      auto team = ep.world().split(ep.rank() / 2, -std::int64_t{ep.rank()});
      ASSERT_TRUE(team && *team);
      EXPECT_THAT((*team)->explain(Collective::broadcast, 64, 8), HasSubstr("\n  native\n"));
      std::uint64_t word = 0;
      auto plan = all_reduce_plan(**team, std::span(&word, 1), ReduceOp::sum);
      ASSERT_TRUE(plan) << plan.status().text();
      const std::uint64_t before = natives(ep, Collective::all_reduce);
      for (int i = 0; i < 3; ++i) {
        word = ep.rank() + 1;
        ASSERT_TRUE(plan->run());
        EXPECT_EQ(word, ep.rank() < 2 ? 3u : 7u);
      }
      EXPECT_EQ(natives(ep, Collective::all_reduce) - before, 3u);
      ASSERT_TRUE(plan->end());
      ASSERT_TRUE((*team)->end());
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// One member's conduit offers less: then no member uses what the others have.
TEST_F(NativeJobs, AreNotUsedUnlessAllMembersHaveThem) {
  start(2);
  job_->run_each([](Endpoint& ep) {
    auto team = ep.world().split(0, ep.rank());
    ASSERT_TRUE(team && *team);
    EXPECT_NE(Collectives::native_offer((*team)->state()), 0u);
    Collectives::choose_native((*team)->state(), false);
    EXPECT_EQ(Collectives::native_offer((*team)->state()), 0u);
    const std::uint64_t before = natives(ep, Collective::all_reduce);
    std::uint64_t word = ep.rank() + 1;
    ASSERT_TRUE(all_reduce(**team, std::span(&word, 1), ReduceOp::sum));
    EXPECT_EQ(word, 3u);
    EXPECT_EQ(natives(ep, Collective::all_reduce), before);
    ASSERT_TRUE((*team)->end());
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

TEST_F(NativeJobs, AreExplained) {
  start(2);
  job_->run_each([](Endpoint& ep) {
    EXPECT_THAT(ep.world().explain(Collective::all_reduce, 64, ElementType::f64),
                HasSubstr("\n  native\n  by the conduit"));
    EXPECT_THAT(ep.world().explain(Collective::all_reduce, 1 << 20, ElementType::f64),
                HasSubstr("not native: its buffers are too long for loop"));
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

TEST_F(NativeJobs, ThatAreForcedRefuseWhatTheConduitDoesNotDo) {
  start(3, {{"coll_broadcast", "native"}});
  job_->run_each([](Endpoint& ep) {
    std::vector<std::uint64_t> data(4096, ep.rank());
    EXPECT_EQ(broadcast(ep.world(), std::span(data), 1).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(data.back(), ep.rank());
    ASSERT_TRUE(broadcast(ep.world(), std::span(data).first(4), 1));
    EXPECT_EQ(data.front(), 1u);
    ASSERT_TRUE(broadcast(ep.world(), std::span(data).first(0), 1));
    EXPECT_EQ(natives(ep, Collective::broadcast), 2u);
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

/// The part of a member in a reduction of 64 bytes in place, as the library has checked it.
Request request_to_reduce(Team& team, std::span<std::uint64_t> words, Reducer reducer) {
  aqueduct::detail::CollCall call;
  call.operation = Collective::all_reduce;
  call.type = ElementType::u64;
  call.element = sizeof(std::uint64_t);
  call.out.where = aqueduct::detail::CollBuffer::Where::mine;
  call.out.memory = words.data();
  call.out.bytes = words.size_bytes();
  call.reducer = reducer;
  std::string why;
  auto& operators = team.state().endpoint.layer<Collectives>()->user_operators();
  const auto request = checked_request(team.state(), call, operators, why);
  EXPECT_TRUE(request) << why;
  return *request;
}

bool has_native(const std::vector<Timed>& candidates) {
  return std::ranges::any_of(candidates, [](const Timed& one) { return one.algorithm->native; });
}

// The conduit combines what it knows by itself, and nothing of which only the size is known.
TEST_F(NativeJobs, OfKnownTypesTakePartInSearches) {
  start(3);
  for (Rank rank = 0; rank < 3; ++rank) known_types_only(rank);
  job_->run_each([](Endpoint& ep) {
    TuneOptions options;
    options.time = std::chrono::seconds(2);
    options.candidates = 1;
    // Members agree by all-reduces, and not by scans.
    const auto report =
        tune(ep.world(), std::array{Collective::scan}, std::array<std::uint64_t, 1>{64}, options);
    ASSERT_TRUE(report) << report.status().text();
    EXPECT_GE(natives(ep, Collective::scan), 2u) << "it was not tried";
  });
  EXPECT_TRUE(job_->finish());
}

// A key is judged at its least size, which the conduit can do; what is measured is longer.
TEST_F(NativeJobs, AreNoCandidatesForSizesThatTheConduitRefuses) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    TeamEngine& engine = *Collectives::engine_of(ep.world().state());
    Shape shape;
    shape.operation = Operation::scan;
    shape.ranks = 3;
    shape.element = 8;
    shape.type = ElementType::f64;
    shape.bytes = shape.pitch = 2048;
    const TuningKey key = engine.key_for(shape);
    EXPECT_TRUE(has_native(engine.worth_measuring(key, shape, 100)));
    shape.bytes = shape.pitch = 2800;
    ASSERT_EQ(engine.key_for(shape), key);
    const auto candidates = engine.worth_measuring(key, shape, 100);
    EXPECT_GE(candidates.size(), 2u);
    EXPECT_FALSE(has_native(candidates));
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// A sum and a program's own operator have one key. What the conduit refuses takes the time of another algorithm.
TEST_F(NativeJobs, LearnNothingFromCallsThatTheConduitRefuses) {
  start(2, {{"coll_learn", "on"}});
  for (Rank rank = 0; rank < 2; ++rank) known_types_only(rank);
  job_->run_each([](Endpoint& ep) {
    UserOperator sum;
    sum.combine = [](void* to, const void* left, const void* right, std::size_t count, void*) {
      for (std::size_t i = 0; i < count; ++i)
        static_cast<std::uint64_t*>(to)[i] =
            static_cast<const std::uint64_t*>(left)[i] + static_cast<const std::uint64_t*>(right)[i];
    };
    sum.element = sizeof(std::uint64_t);
    sum.commutative = true;
    ASSERT_TRUE(add_operator(ep, 7, sum));
    std::array<std::uint64_t, 8> words{};
    TeamEngine& engine = *Collectives::engine_of(ep.world().state());
    const Learning::Key* const key = engine.key_to_learn(request_to_reduce(ep.world(), words, ReduceOp::sum));
    ASSERT_NE(key, nullptr);
    ASSERT_TRUE(key->field.front().algorithm->native);
    ASSERT_EQ(engine.key_to_learn(request_to_reduce(ep.world(), words, Reducer::user(7))), key);
    const auto time_of_best = [&] {
      Bandit copy = key->bandit;
      return copy.words()[0];
    };
    for (int i = 0; i < 20; ++i) {
      words.fill(ep.rank() + 1);
      ASSERT_TRUE(all_reduce(ep.world(), std::span(words), Reducer::user(7)));
      ASSERT_EQ(words[7], 3u);
    }
    EXPECT_EQ(natives(ep, Collective::all_reduce), 0u);
    EXPECT_EQ(time_of_best(), Bandit::kUnknown) << "the time of another algorithm";
    ASSERT_TRUE(all_reduce(ep.world(), std::span(words), ReduceOp::sum));
    EXPECT_EQ(natives(ep, Collective::all_reduce), 1u);
    EXPECT_NE(time_of_best(), Bandit::kUnknown);
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// No pass shows it: the conduit finds that the marks differ.
TEST_F(NativeJobs, ThatDifferAreAMismatchOnAllMembers) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    auto team = ep.world().split(0, ep.rank());
    ASSERT_TRUE(team && *team);
    std::array<std::uint64_t, 2> data{5, 6};
    const CollOptions mine = native_modes(Sync::mine, Sync::mine);
    const Status status = ep.rank() == 1 ? broadcast(**team, std::span(data), 0, mine)
                                         : all_reduce(**team, std::span(data), ReduceOp::sum, mine);
    EXPECT_EQ(status.code(), ErrorCode::mismatch) << status.text();
    EXPECT_EQ(data, (std::array<std::uint64_t, 2>{5, 6}));
    EXPECT_TRUE((*team)->end());
    ASSERT_TRUE(all_reduce(ep.world(), std::span(data), ReduceOp::sum)) << "other teams go on";
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// The others have started, and the conduit would wait for ever.
TEST_F(NativeJobs, EndWhenAMemberRefusesItsCall) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    auto team = ep.world().split(0, ep.rank());
    ASSERT_TRUE(team && *team);
    std::array<std::uint64_t, 2> data{5, 6};
    const Rank root = ep.rank() == 1 ? Rank{3} : Rank{0};
    const Status status = broadcast(**team, std::span(data), root, native_modes(Sync::mine, Sync::mine));
    EXPECT_EQ(status.code(), ep.rank() == 1 ? ErrorCode::invalid_argument : ErrorCode::mismatch);
    EXPECT_TRUE((*team)->end());
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

TEST_F(NativeJobs, EndWhenAMemberIsLost) {
  start(2);
  Endpoint& me = job_->endpoint(0);
  std::array<std::uint64_t, 2> data{5, 6};
  Event event =
      all_reduce_nb(me.world(), std::span(data), ReduceOp::sum, native_modes(Sync::mine, Sync::mine));
  for (int i = 0; i < 10; ++i) me.progress();
  EXPECT_FALSE(event.done());
  me.state().peer_lost(1);
  for (int i = 0; i < 1000 && !event.done(); ++i) me.progress();
  ASSERT_TRUE(event.done());
  EXPECT_EQ(event.status().code(), ErrorCode::peer_lost);
  EXPECT_EQ(data, (std::array<std::uint64_t, 2>{5, 6}));
}

// Its callers learn of it, though later calls have ended for another reason; and the log names both.
TEST_F(NativeJobs, FailAlsoInATeamThatIsBrokenFromALaterCallOn) {
  start(3, {{"log", "error"}});
  std::array<std::optional<Team>, 3> teams;
  job_->run_each([&](Endpoint& ep) {
    auto team = ep.world().split(0, ep.rank());
    ASSERT_TRUE(team && *team);
    teams[ep.rank()].emplace(std::move(**team));
  });
  const auto progress_all = [&] {
    for (int i = 0; i < 100; ++i) {
      for (Rank rank = 0; rank < 3; ++rank) job_->endpoint(rank).progress();
    }
  };
  testing::internal::CaptureStderr();
  std::array<std::array<std::uint64_t, 2>, 3> data{};
  std::array<Event, 2> first;  // member 2 makes no call
  for (Rank rank = 0; rank < 2; ++rank) {
    first[rank] = all_reduce_nb(*teams[rank], std::span(data[rank]), ReduceOp::sum,
                                native_modes(Sync::mine, Sync::mine));
  }
  Event refused =
      broadcast_nb(*teams[0], std::span(data[0]), /*root=*/3, native_modes(Sync::mine, Sync::mine));
  EXPECT_EQ(refused.status().code(), ErrorCode::invalid_argument);
  Event later = broadcast_nb(*teams[1], std::span(data[1]), /*root=*/0, native_modes(Sync::mine, Sync::mine));
  progress_all();
  ASSERT_TRUE(later.done());
  EXPECT_EQ(later.status().code(), ErrorCode::mismatch);
  EXPECT_FALSE(first[0].done() || first[1].done()) << "the first call goes on: member 2 may yet make it";
  auto& native = dynamic_cast<conduits::loop::LoopNativeCollectives&>(
      *job_->endpoint(0).state().conduit(1).collectives());
  native.break_down(ErrorCode::network_failed);
  progress_all();
  const std::string log = testing::internal::GetCapturedStderr();
  ASSERT_TRUE(first[0].done() && first[1].done()) << log;
  EXPECT_EQ(first[0].status().code(), ErrorCode::network_failed);
  EXPECT_EQ(first[1].status().code(), ErrorCode::mismatch) << "it learns that member 0 cannot make the call";
  EXPECT_EQ(all_reduce_nb(*teams[0], std::span(data[0]), ReduceOp::sum).status().code(), ErrorCode::mismatch);
  EXPECT_THAT(log, HasSubstr("calls 1 to 1, of which the first is all_reduce"));
  EXPECT_THAT(log, HasSubstr("network"));
  EXPECT_THAT(log, HasSubstr("the calls after them have ended with"));
}

}  // namespace
}  // namespace aqueduct::coll
