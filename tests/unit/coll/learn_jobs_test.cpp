// Teams that learn while the program runs: what they leave to the next job, and what ends while they learn.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/coll.hpp>

#include "coll/tune/tuning_file.hpp"
#include "core/endpoint_state.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace aqueduct::coll {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

Config learning_config() {
  Config config;
  EXPECT_TRUE(config.set("conduit", "loop"));
  EXPECT_TRUE(config.set("near", "off"));
  EXPECT_TRUE(config.set("segment_bytes", "64K"));
  EXPECT_TRUE(config.set("coll_learn", "on"));
  return config;
}

std::uint64_t counted(Endpoint& me, std::string_view name) {
  for (const StatisticsRow& row : me.statistics_rows()) {
    if (row.name == name) return *row.counter;
  }
  return ~std::uint64_t{0};
}

void sum_up(Team& team, int calls, const CollOptions& options = {}) {
  std::vector<std::uint64_t> words(128);
  for (int call = 0; call < calls; ++call) {
    std::fill(words.begin(), words.end(), std::uint64_t{1});
    const Status status = all_reduce(team, words, ReduceOp::sum, options);
    ASSERT_TRUE(status) << status.text() << " in call " << call;
    ASSERT_EQ(words.back(), team.size()) << call;
  }
}

// By the clock of the simulated network, which nothing disturbs.
TEST(LearnJobs, LeaveToTheNextJobWhatTheyHaveLearned) {
  // So many trials are enough to know all candidates: each is tried three times at most before the next one.
  constexpr std::uint64_t kEnough = 3 * 12;
  const support::ScratchFolder folder;
  for (const bool first : {true, false}) {
    Config config = learning_config();
    EXPECT_TRUE(config.set("conduit", "sim"));
    EXPECT_TRUE(config.set("coll_learn", first ? "on" : "off"));
    EXPECT_TRUE(config.set("coll_tuning", folder.path()));
    auto job = Job::in_process(3, config);
    ASSERT_TRUE(job) << job.status().text();
    job->run_each([&](Endpoint& me) {
      const std::string before = me.world().explain(Collective::all_reduce, 1024, 8);
      if (!first) {
        EXPECT_THAT(before, HasSubstr("measured: ")) << "the job before has left nothing";
        EXPECT_EQ(counted(me, "learning_trials"), 0u);
        return;
      }
      EXPECT_THAT(before, Not(HasSubstr("measured: ")));
      std::uint64_t calls = 0;
      for (int round = 0; round < 40 && counted(me, "learning_trials") < kEnough; ++round, calls += 250)
        sum_up(me.world(), 250);
      EXPECT_GE(counted(me, "learning_trials"), kEnough);
      EXPECT_LE(counted(me, "learning_trials"), calls * 6 / 100);
      if (counted(me, "learning_changes") != 0) {
        EXPECT_THAT(
            me.world().explain(Collective::all_reduce, 1024, 8),
            testing::AnyOf(HasSubstr("learned while the program ran: "), HasSubstr("  by the rules")));
      }
    });
    EXPECT_TRUE(job->finish());
  }
}

// By the same clock.
TEST(LearnJobs, SaveWhenTheyEndAndNotWhenATeamEnds) {
  const support::ScratchFolder folder;
  const TuningPlace place{machine_kind(), "sim"};
  const std::string file = tuning_file(folder.path(), place);
  const int held = ::open((file + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  ASSERT_GE(held, 0);
  ASSERT_EQ(::flock(held, LOCK_EX), 0) << "a team that waits for the lock makes no progress";
  Config config = learning_config();
  EXPECT_TRUE(config.set("conduit", "sim"));
  EXPECT_TRUE(config.set("coll_tuning", folder.path()));
  auto job = Job::in_process(3, config);
  ASSERT_TRUE(job) << job.status().text();
  testing::internal::CaptureStderr();
  job->run_each([&](Endpoint& me) {
    auto team = me.world().dup();
    ASSERT_TRUE(team);
    for (int round = 0; round < 40 && counted(me, "learning_trials") < 3 * 12; ++round) sum_up(*team, 250);
    ASSERT_TRUE(team->end());
  });
  ::close(held);
  EXPECT_TRUE(load_tuning(file, place).decisions.empty());
  EXPECT_TRUE(job->finish());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("is not saved")));
  EXPECT_EQ(load_tuning(file, place).decisions.size(), 1u);
}

// All ranks are told of losses of others, as by a launcher.
TEST(LearnJobs, SaveAfterALossWhatTheyHaveLearnedBefore) {
  const support::ScratchFolder folder;
  const TuningPlace place{machine_kind(), "sim"};
  const std::string file = tuning_file(folder.path(), place);
  Config config = learning_config();
  EXPECT_TRUE(config.set("conduit", "sim"));
  EXPECT_TRUE(config.set("coll_tuning", folder.path()));
  auto job = Job::in_process(3, config);
  ASSERT_TRUE(job) << job.status().text();
  testing::internal::CaptureStderr();
  job->run_each([&](Endpoint& me) {
    for (int round = 0; round < 40 && counted(me, "learning_trials") < 3 * 12; ++round)
      sum_up(me.world(), 250);
  });
  for (Rank rank = 0; rank < 3; ++rank) {
    for (Rank lost = 0; lost < 3; ++lost) {
      if (lost != rank && (lost == 2 || rank == 2)) job->endpoint(rank).state().peer_lost(lost);
    }
  }
  EXPECT_EQ(job->finish().code(), ErrorCode::peer_lost);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("is not saved")));
  EXPECT_EQ(load_tuning(file, place).decisions.size(), 1u);
}

TEST(LearnJobs, OfAForcedOperationTryNothing) {
  Config config = learning_config();
  EXPECT_TRUE(config.set("coll_all_reduce", "direct"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job) << job.status().text();
  job->run_each([](Endpoint& me) {
    sum_up(me.world(), 300);
    EXPECT_EQ(counted(me, "learning_trials"), 0u);
  });
  EXPECT_TRUE(job->finish());
}

// Calls that must not be trials are none of the key's calls: it stands where it stood before them.
TEST(LearnJobs, TryNothingInCallsThatForbidIt) {
  auto job = Job::in_process(2, learning_config());
  ASSERT_TRUE(job) << job.status().text();
  job->run_each([](Endpoint& me) {
    sum_up(me.world(), 300, {.no_trials = true});
    EXPECT_EQ(counted(me, "learning_trials"), 0u);
    // A key's first trial is its call 33: the calls before are there to compare with.
    sum_up(me.world(), 32);
    sum_up(me.world(), 100, {.no_trials = true});
    EXPECT_EQ(counted(me, "learning_trials"), 0u);
    sum_up(me.world(), 40);
    EXPECT_GE(counted(me, "learning_trials"), 1u);
  });
  EXPECT_TRUE(job->finish());
}

// Members would count differently.
TEST(LearnJobs, TellMembersThatDoNotForbidItAlike) {
  auto job = Job::in_process(2, learning_config());
  ASSERT_TRUE(job) << job.status().text();
  testing::internal::CaptureStderr();
  job->run_each([](Endpoint& me) {
    auto team = me.world().dup();
    ASSERT_TRUE(team);
    std::uint64_t word = 1;
    CollOptions options;
    options.no_trials = me.rank() == 1;
    EXPECT_EQ(all_reduce(*team, std::span(&word, 1), ReduceOp::sum, options).code(), ErrorCode::mismatch);
    ASSERT_TRUE(me.barrier());
  });
  EXPECT_TRUE(job->finish());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no trials"));
}

// The members combine what they have measured by an all-reduce, which the setting makes one that cannot.
TEST(LearnJobs, WhoseAllReduceIsForcedGoOn) {
  Config config = learning_config();
  EXPECT_TRUE(config.set("coll_all_reduce", "halving"));  // of a power of two members
  auto job = Job::in_process(3, config);
  ASSERT_TRUE(job) << job.status().text();
  job->run_each([](Endpoint& me) {
    std::vector<std::uint64_t> words(128, me.rank() + 1);
    for (int call = 0; call < 100; ++call) ASSERT_TRUE(broadcast(me.world(), words)) << call;
    EXPECT_EQ(words[127], 1u);
    EXPECT_EQ(counted(me, "learning_trials"), 0u);
  });
  EXPECT_TRUE(job->finish());
}

// Whatever the members have begun to combine: teams end at each call of the first epochs.
TEST(LearnJobs, EndTeamsAtAnyCall) {
  auto job = Job::in_process(2, learning_config());
  ASSERT_TRUE(job) << job.status().text();
  job->run_each([](Endpoint& me) {
    for (int calls = 0; calls < 60; ++calls) {
      auto team = me.world().dup();
      ASSERT_TRUE(team);
      sum_up(*team, calls);
      ASSERT_TRUE(team->end());
    }
  });
  EXPECT_TRUE(job->finish());
}

TEST(LearnJobs, WithAMemberThatDoesNotCallEndTheirCallsInTime) {
  auto job = Job::in_process(2, learning_config());
  ASSERT_TRUE(job) << job.status().text();
  job->run_each([](Endpoint& me) {
    auto team = me.world().dup();
    ASSERT_TRUE(team);
    sum_up(*team, 40);
    std::uint64_t word = 1;  // the call goes on after its time
    if (me.rank() == 0) {
      CollOptions options;
      options.limit = 20ms;
      EXPECT_EQ(all_reduce(*team, std::span(&word, 1), ReduceOp::sum, options).code(), ErrorCode::timed_out);
    }
    ASSERT_TRUE(me.barrier());
    if (me.rank() == 1) {
      EXPECT_TRUE(all_reduce(*team, std::span(&word, 1), ReduceOp::sum));
    }
    sum_up(*team, 40);
    EXPECT_EQ(word, 2u);
    ASSERT_TRUE(me.barrier());
  });
  EXPECT_TRUE(job->finish());
}

}  // namespace
}  // namespace aqueduct::coll
