// Whole jobs whose calls have blocks of different lengths.

#include <aqueduct/aqueduct.hpp>

#include "tests/conformance/collective_v.hpp"
#include "tests/support/loop_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace aqueduct::coll {
namespace {

using conformance::BlocksCase;
using conformance::kBlocksCollectives;

class BlocksJobs : public testing::Test {
 protected:
  void start(Rank ranks, const support::Settings& settings = {}) {
    support::start_over_loop(job_, ranks, settings);
  }
  static std::uint64_t messages(Endpoint& ep) {
    for (const StatisticsRow& one : ep.statistics_rows()) {
      if (one.name == "collective_messages") return *one.counter;
    }
    ADD_FAILURE() << "there is no such row";
    return 0;
  }

  std::optional<Job> job_;
};

TEST_F(BlocksJobs, OfSeventeenRanksEqualTheModel) {
  start(17);
  job_->run_each([](Endpoint& ep) {
    std::uint64_t number = 0;
    for (const Collective operation : kBlocksCollectives) {
      for (const std::uint64_t most : {0u, 1u, 9u, 400u}) {
        for (const Rank root : {0u, 16u, 5u}) {
          const BlocksCase made{.operation = operation,
                                .number = ++number,
                                .most = most,
                                .root = root,
                                .packed = number % 3 == 0,
                                .in_place = number % 5 == 0 && conformance::has_blocks_place(operation),
                                .known = number % 2 == 0};
          ASSERT_NO_FATAL_FAILURE(conformance::try_blocks<std::int64_t>(ep, ep.world(), made));
        }
      }
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// Pieces of a few elements.
TEST_F(BlocksJobs, NeedLittleScratch) {
  start(6, {{"coll_team_scratch", "4K"}});
  job_->run_each([](Endpoint& ep) {
    auto team = ep.world().split(0, 6 - ep.rank());
    ASSERT_TRUE(team && *team);
    std::uint64_t number = 50;
    for (const Collective operation : kBlocksCollectives) {
      for (const std::uint64_t most : {1u, 31u, 500u, 1500u}) {
        BlocksCase made{.operation = operation, .number = ++number, .most = most, .root = 4};
        made.options.out = number % 2 == 0 ? Sync::all : Sync::mine;
        ASSERT_NO_FATAL_FAILURE(conformance::try_blocks<double>(ep, **team, made));
      }
    }
    ASSERT_TRUE((*team)->end());
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// With Sync::all at the end, all messages of a call have been sent when all members have returned.
TEST_F(BlocksJobs, SendAMessageForEachBlockThatIsNotEmpty) {
  constexpr Rank kRanks = 5;
  start(kRanks, {{"coll_all_gather_v", "slots"}});  // others send several blocks in a message
  const auto sent_so_far = [&] {
    std::uint64_t sent = 0;
    for (Rank i = 0; i < kRanks; ++i) sent += messages(job_->endpoint(i));
    return sent;
  };
  const auto sent_by = [&](const BlocksCase& made) {
    const std::uint64_t before = sent_so_far();
    job_->run_each([&](Endpoint& ep) {
      ASSERT_NO_FATAL_FAILURE(conformance::try_blocks<std::int32_t>(ep, ep.world(), made));
    });
    return sent_so_far() - before;
  };
  for (const Collective operation : kBlocksCollectives) {
    BlocksCase made{.operation = operation, .number = 7, .most = 0, .root = 2};
    const std::uint64_t without_blocks = sent_by(made);
    made.most = 6;
    const conformance::BlocksModel model(made, kRanks);
    std::uint64_t blocks = 0;
    for (Rank from = 0; from < kRanks; ++from) {
      for (Rank to = 0; to < kRanks; ++to) blocks += from != to && model.length(from, to) != 0 ? 1 : 0;
    }
    EXPECT_EQ(sent_by(made), without_blocks + blocks) << text_of(made);
  }
  EXPECT_TRUE(job_->finish());
}

constexpr std::chrono::seconds kBlocksLimit{20};

/// An all_to_all_v among three. Member i sends i + 1 words to each, which say i and the round.
struct ThreeWay {
  explicit ThreeWay(Rank rank) : me(rank), in_counts(3, me + 1), in(3 * (me + 1)), out(6) { reset(0); }
  void reset(std::uint64_t round) {
    std::fill(in.begin(), in.end(), 100 * round + me);
    std::fill(out.begin(), out.end(), 99);
  }
  void check(std::uint64_t round) const {
    const std::uint64_t all = 100 * round;
    EXPECT_EQ(out, (std::vector<std::uint64_t>{all, all + 1, all + 1, all + 2, all + 2, all + 2}));
  }
  Result<CollPlan> plan(Team& team) { return all_to_all_v_plan(team, in, {in_counts}, out, {out_counts}); }
  Event begin(Team& team) { return all_to_all_v_nb(team, in, {in_counts}, out, {out_counts}); }

  std::uint64_t me;
  std::vector<std::uint64_t> in_counts, out_counts{1, 2, 3};
  std::vector<std::uint64_t> in, out;
};

// Member 1 has begun, and has no progress: it has not copied its block yet.
TEST_F(BlocksJobs, EndWithSyncAllWhenAllHaveCopiedTheirOwnBlocks) {
  start(2);
  Endpoint& first = job_->endpoint(0);
  Endpoint& second = job_->endpoint(1);
  const std::uint64_t in = 7;
  std::uint64_t out = 99, out_of_second = 99;
  Event slow = permute_nb(second.world(), std::span(&in, 1), std::span(&out_of_second, 1), 1);
  Event fast = permute_nb(first.world(), std::span(&in, 1), std::span(&out, 1), 0);
  for (int i = 0; i < 100; ++i) first.progress();
  if (fast.done()) {
    EXPECT_EQ(out_of_second, 7u);
  }
  const auto end = std::chrono::steady_clock::now() + kBlocksLimit;
  while (!(fast.done() && slow.done()) && std::chrono::steady_clock::now() < end) {
    first.progress();
    second.progress();
  }
  ASSERT_TRUE(first.wait(std::move(fast)));
  ASSERT_TRUE(second.wait(std::move(slow)));
  EXPECT_EQ(out, 7u);
  EXPECT_EQ(out_of_second, 7u);
  EXPECT_TRUE(job_->finish());
}

std::size_t times_in(const std::string& text, const std::string& what) {
  std::size_t times = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
  return times;
}

TEST_F(BlocksJobs, NameBothEndsOfABlockInTheLogsOfBoth) {
  start(3, {{"log", "error"}});
  testing::internal::CaptureStderr();
  job_->run_each([](Endpoint& ep) {
    ThreeWay three(ep.rank());
    three.out.resize(9);
    if (ep.rank() == 2) three.out_counts[1] = 3;
    EXPECT_EQ(ep.wait(three.begin(ep.world())).code(), ErrorCode::mismatch);
    EXPECT_EQ(three.out, std::vector<std::uint64_t>({99, 99, 99, 99, 99, 99, 0, 0, 0}));
    std::uint64_t in = 1, out = 99;
    const auto permutes = [&](Rank to, Rank from) {
      EXPECT_EQ(ep.wait(permute_nb(ep.world(), std::span(&in, 1), std::span(&out, 1), to, from)).code(),
                ErrorCode::mismatch);
      EXPECT_EQ(out, 99u);
    };
    permutes(ep.rank() == 0 ? 2 : ep.rank(), kNoRank);
    EXPECT_TRUE(permute(ep.world(), std::span(&in, 1), std::span(&out, 1), (ep.rank() + 1) % 3, {}))
        << "a source of {} is not known, and not member 0";
    EXPECT_EQ(out, 1u);
    out = 99;
    permutes((ep.rank() + 1) % 3, (ep.rank() + 1) % 3);
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(times_in(text, "member 1 (rank 1) sends 16 bytes to member 2 (rank 2), which expects 24: "), 2u)
      << text;
  EXPECT_EQ(times_in(text, "the two ends of a block give it different lengths; "), 1u) << text;
  EXPECT_EQ(times_in(text, "no member sends to member 0: "), 1u) << text;
  EXPECT_EQ(times_in(text, "members 0 and 2 both send to member 2: "), 1u) << text;
  for (const Rank from : {0u, 1u, 2u}) {
    const auto sends = "member " + std::to_string(from) + " sends to member " +
                       std::to_string((from + 1) % 3) + ", which expects member " +
                       std::to_string((from + 2) % 3);
    EXPECT_EQ(times_in(text, sends), 1u) << text;
  }
}

// They are counted before bytes move, so there need be no such memory.
TEST_F(BlocksJobs, AreTooLargeOnAllMembersIfABlockHasTooManyPieces) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    std::uint8_t byte = 99;
    const std::span<std::uint8_t> endless(&byte, std::size_t{1} << 52);
    const std::span<std::uint8_t> in = ep.rank() == 1 ? endless : endless.first(0);
    const std::vector<std::uint64_t> counts{0, endless.size(), 0};
    EXPECT_EQ(ep.wait(gather_v_nb(ep.world(), in, endless, {counts}, 0)).code(), ErrorCode::too_large);
    EXPECT_EQ(byte, 99u);
    ThreeWay three(ep.rank());
    ASSERT_TRUE(ep.wait(three.begin(ep.world())));
    three.check(0);
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// Another call stands before and behind each start, so a start may be over while the engine still has runs of it.
TEST_F(BlocksJobs, APlanMayBeStartedAgainAsSoonAsAStartIsOver) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    ThreeWay three(ep.rank());
    auto plan = three.plan(ep.world());
    ASSERT_TRUE(plan) << plan.status().text();
    std::array<std::uint64_t, 200> words;
    words.fill(1);
    std::deque<Event> sums;
    for (std::uint64_t round = 0; round < 100; ++round) {
      three.reset(round);
      sums.push_back(all_reduce_nb(ep.world(), std::span(words).subspan(2 * round, 1), ReduceOp::sum));
      Event event = plan->start();
      sums.push_back(all_reduce_nb(ep.world(), std::span(words).subspan(2 * round + 1, 1), ReduceOp::sum));
      const Status status = ep.wait_for(event, kBlocksLimit);
      ASSERT_TRUE(status) << status.text();
      three.check(round);
    }
    for (Event& sum : sums) ASSERT_TRUE(ep.wait(std::move(sum)));
    for (const std::uint64_t word : words) EXPECT_EQ(word, 3u);
    ASSERT_TRUE(plan->end());
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// Rank 0 gives its plan up while the others have not called; the start goes on.
TEST_F(BlocksJobs, APlanMayBeDestroyedWhileItRuns) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    auto team = ep.world().split(0, ep.rank());
    ASSERT_TRUE(team && *team);
    ThreeWay three(ep.rank());
    auto plan = three.plan(**team);
    ASSERT_TRUE(plan) << plan.status().text();
    const bool first = ep.rank() == 0;
    Event event;
    if (first) {
      event = plan->start();
      EXPECT_FALSE(event.done());
      *plan = CollPlan();
    }
    ASSERT_TRUE(ep.barrier());
    if (!first) event = plan->start();
    ASSERT_TRUE(ep.wait(std::move(event)));
    three.check(0);
    // The record of the blocks is free now, and serves another call.
    three.reset(1);
    ASSERT_TRUE(ep.wait(three.begin(**team)));
    three.check(1);
    ASSERT_TRUE((*team)->end());
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

TEST_F(BlocksJobs, APlanOfATeamThatHasEndedIsClosed) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    auto team = ep.world().split(0, ep.rank());
    ASSERT_TRUE(team && *team);
    ThreeWay three(ep.rank());
    auto plan = three.plan(**team);
    ASSERT_TRUE(plan) << plan.status().text();
    ASSERT_TRUE(ep.wait(plan->start()));
    ASSERT_TRUE((*team)->end());
    EXPECT_EQ(plan->start().status().code(), ErrorCode::closed);
    EXPECT_EQ(plan->end().code(), ErrorCode::closed);
    three.reset(1);
    ASSERT_TRUE(ep.wait(three.begin(ep.world())));
    three.check(1);
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// To bind and to end such a plan are calls like others.
TEST_F(BlocksJobs, BindsAndEndsWhereOthersStartAreAMismatch) {
  start(3);
  job_->run_each([](Endpoint& ep) {
    for (const bool ends : {false, true}) {
      auto team = ep.world().split(0, ep.rank());
      ASSERT_TRUE(team && *team);
      ThreeWay planned(ep.rank()), others(ep.rank()), last(ep.rank());
      std::optional<CollPlan> plan;
      const auto bind = [&] {
        auto bound = planned.plan(**team);
        if (bound) plan.emplace(*std::move(bound));
        return bound.status().code();
      };
      if (ends) {
        ASSERT_EQ(bind(), ErrorCode::ok);
        ASSERT_TRUE(ep.wait(plan->start()));
      }
      Event first;
      if (ep.rank() != 1) {
        first = others.begin(**team);
      } else {
        const ErrorCode about = ends ? plan->end().code() : bind();
        // It may have been told of the others' calls already.
        EXPECT_TRUE(about == ErrorCode::ok || about == ErrorCode::mismatch) << describe(about).name;
      }
      Event second = last.begin(**team);
      for (Event* event : {&second, &first}) {
        const Status waited = ep.wait_for(*event, kBlocksLimit);
        ASSERT_TRUE(event->done()) << waited.text();
      }
      EXPECT_EQ(second.status().code(), ErrorCode::mismatch);
      EXPECT_EQ(first.status().code(), ep.rank() == 1 ? ErrorCode::ok : ErrorCode::mismatch);
      plan.reset();
      EXPECT_TRUE((*team)->end());
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

// With a thread that goes on with collective operations while the program looks on.
TEST_F(BlocksJobs, GoOnWhileTheProgramComputes) {
  start(3, {{"coll_progress", "100us"}});
  job_->run_each([](Endpoint& ep) {
    ThreeWay three(ep.rank());
    ASSERT_TRUE(ep.barrier());
    for (std::uint64_t round = 0; round < 5; ++round) {
      three.reset(round);
      Event event = three.begin(ep.world());
      const auto end = std::chrono::steady_clock::now() + kBlocksLimit;
      while (!event.done() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      EXPECT_TRUE(event.done()) << "nobody goes on with it";
      ASSERT_TRUE(ep.wait(std::move(event)));
      three.check(round);
    }
    ASSERT_TRUE(ep.barrier());
  });
  EXPECT_TRUE(job_->finish());
}

}  // namespace
}  // namespace aqueduct::coll
