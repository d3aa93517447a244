// Searches in jobs: what is saved, and a member that does not come back.

#include <aqueduct/aqueduct.hpp>
#include <aqueduct/tune.hpp>

#include "coll/engine/checked_request.hpp"
#include "coll/engine/collectives.hpp"
#include "coll/tune/tuning_file.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace aqueduct::coll {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Config loop_config() {
  Config config;
  EXPECT_TRUE(config.set("conduit", "loop"));
  EXPECT_TRUE(config.set("near", "off"));
  EXPECT_TRUE(config.set("segment_bytes", "64K"));
  return config;
}

TuneOptions options_to_save(const std::string& file) {
  TuneOptions options;
  options.time = 2s;
  options.candidates = 2;
  options.save = file;
  return options;
}

constexpr std::array kOneOperation{Collective::broadcast};
constexpr std::array<std::uint64_t, 1> kOneSize{1024};

TEST(TuneJobs, LeaveToTheNextJobWhatTheyHaveFound) {
  const support::ScratchFolder folder;
  std::string algorithm;
  for (const bool first : {true, false}) {
    Config config = loop_config();
    EXPECT_TRUE(config.set("coll_tuning", folder.path()));
    auto job = Job::in_process(3, config);
    ASSERT_TRUE(job) << job.status().text();
    job->run_each([&](Endpoint& me) {
      if (first) {
        const auto report = tune(me.world(), kOneOperation, kOneSize, options_to_save(folder.path()));
        ASSERT_TRUE(report) << report.status().text();
        ASSERT_EQ(report->found.size(), 1u);
        EXPECT_TRUE(report->saved);
        if (me.rank() == 0) algorithm = report->found[0].algorithm;
      } else {
        const std::string why = me.world().explain(Collective::broadcast, 1024);
        EXPECT_THAT(why, HasSubstr("measured: "));
        EXPECT_THAT(why, HasSubstr("  " + algorithm));
      }
    });
    EXPECT_TRUE(job->finish());
  }
}

TEST(TuneJobs, NameTheOperationOrTheListThatTheyRefuse) {
  testing::internal::CaptureStderr();
  auto job = Job::in_process(2, loop_config());
  if (!job) testing::internal::GetCapturedStderr();
  ASSERT_TRUE(job) << job.status().text();
  constexpr std::array kWrong{Collective::barrier, Collective::permute};
  job->run_each([&](Endpoint& me) {
    Team& world = me.world();
    // One member's null list, for which the other one must not wait.
    const bool is_first = me.rank() == 0;
    const std::span<const Collective> no_operations(is_first ? nullptr : kOneOperation.data(), 1);
    const std::span<const std::uint64_t> no_sizes(is_first ? nullptr : kOneSize.data(), 1);
    EXPECT_EQ(tune(world, no_operations, kOneSize).status().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(tune(world, kOneOperation, no_sizes).status().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(tune(world, kWrong, kOneSize).status().code(), ErrorCode::invalid_argument);
  });
  EXPECT_TRUE(job->finish());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("tune: the list `operations` is null and should have 1 entries"));
  EXPECT_THAT(said, HasSubstr("tune: the list `bytes` is null and should have 1 entries"));
  EXPECT_THAT(said, HasSubstr("tune: operations[1] is 11 (permute): they may be barrier to exscan, 0 to 10"));
}

TEST(TuneJobs, CompareTheirChoiceWithAllOthersIfAsked) {
  auto job = Job::in_process(3, loop_config());
  ASSERT_TRUE(job) << job.status().text();
  job->run_each([&](Endpoint& me) {
    TuneOptions options;
    options.candidates = 1;
    options.exhaustive = 4;
    constexpr std::array kTwo{Collective::broadcast, Collective::all_reduce};
    const auto report = tune(me.world(), kTwo, kOneSize, options);
    ASSERT_TRUE(report) << report.status().text();
    ASSERT_EQ(report->found.size(), 2u);
    for (const Tuned& one : report->found) {
      EXPECT_GT(one.compared, one.tried)
          << "the search tried one of the model, and those that it does not know";
      EXPECT_GE(one.regret, 0);
      EXPECT_GE(one.noise, 0);
      EXPECT_EQ(one.fastest.empty(), one.regret == 0);
      EXPECT_NE(one.fastest, one.algorithm);
    }
    // The team goes on, with its choice.
    std::uint64_t sum = me.rank();
    EXPECT_TRUE(all_reduce(me.world(), std::span(&sum, 1), ReduceOp::sum));
    EXPECT_EQ(sum, 3u);
  });
  EXPECT_TRUE(job->finish());
}

TEST(TuneJobs, RefuseToCompareTooOften) {
  auto job = Job::in_process(2, loop_config());
  ASSERT_TRUE(job) << job.status().text();
  job->run_each([&](Endpoint& me) {
    for (const std::uint32_t times : {1u, TuneOptions::kMostExhaustive + 1}) {
      TuneOptions options;
      options.exhaustive = times;
      const auto report = tune(me.world(), kOneOperation, kOneSize, options);
      EXPECT_EQ(report.status().code(), ErrorCode::invalid_argument);
    }
  });
  EXPECT_TRUE(job->finish());
}

// What the job before has found is not found out again: learning begins as after all candidates have been tried.
TEST(TuneJobs, LeaveToTheNextJobThatLearnsWhatIsTheFastest) {
  const support::ScratchFolder folder;
  for (const bool first : {true, false}) {
    Config config = loop_config();
    EXPECT_TRUE(config.set("coll_learn", first ? "off" : "on"));
    EXPECT_TRUE(config.set("coll_tuning", folder.path()));
    auto job = Job::in_process(3, config);
    ASSERT_TRUE(job) << job.status().text();
    job->run_each([&](Endpoint& me) {
      if (first) {
        const auto report = tune(me.world(), kOneOperation, kOneSize, options_to_save(folder.path()));
        ASSERT_TRUE(report) << report.status().text();
        EXPECT_TRUE(report->saved);
        return;
      }
      TeamEngine& engine = *Collectives::engine_of(me.world().state());
      for (const std::size_t bytes : {1024u, 2048u}) {
        std::vector<std::byte> block(bytes);
        aqueduct::detail::CollCall call;
        call.operation = Collective::broadcast;
        call.out.where = aqueduct::detail::CollBuffer::Where::mine;
        call.out.memory = block.data();
        call.out.bytes = bytes;
        std::string why;
        const auto request =
            checked_request(me.world().state(), call, me.state().layer<Collectives>()->user_operators(), why);
        ASSERT_TRUE(request) << why;
        const Learning::Key* const key = engine.key_to_learn(*request);
        ASSERT_NE(key, nullptr);
        EXPECT_EQ(key->bandit.is_settled(), bytes == 1024) << bytes;
      }
    });
    EXPECT_TRUE(job->finish());
  }
}

TEST(TuneJobs, WithoutAPlaceToSaveUseItAllTheSame) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "mine.json").string();
  std::ofstream(file) << "shopping list";
  auto job = Job::in_process(2, loop_config());
  ASSERT_TRUE(job) << job.status().text();
  testing::internal::CaptureStderr();
  job->run_each([&](Endpoint& me) {
    const auto report = tune(me.world(), kOneOperation, kOneSize, options_to_save(file));
    ASSERT_TRUE(report) << report.status().text();
    EXPECT_FALSE(report->saved);
    EXPECT_THAT(me.world().explain(Collective::broadcast, 1024), HasSubstr("measured: "));
  });
  EXPECT_TRUE(job->finish());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("what was found is not saved: " + file));
}

// The first member waits for the lock longer than the others wait for a member that works.
TEST(TuneJobs, WhoseFileIsLockedUseWhatWasFoundAllTheSame) {
  const support::ScratchFolder folder;
  const std::string file = (folder / "tuning.json").string();
  const int held = ::open((file + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  ASSERT_GE(held, 0);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  auto job = Job::in_process(3, loop_config());
  ASSERT_TRUE(job) << job.status().text();
  testing::internal::CaptureStderr();
  job->run_each([&](Endpoint& me) {
    TuneOptions options = options_to_save(file);
    options.work_limit = 0s;
    const auto report = tune(me.world(), kOneOperation, kOneSize, options);
    ASSERT_TRUE(report) << report.status().text();
    EXPECT_FALSE(report->saved);
    EXPECT_THAT(me.world().explain(Collective::broadcast, 1024), HasSubstr("measured: "));
    std::uint64_t word = 1;
    ASSERT_TRUE(all_reduce(me.world(), std::span(&word, 1), ReduceOp::sum));
    EXPECT_EQ(word, 3u);
  });
  ::close(held);
  EXPECT_TRUE(job->finish());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(HasSubstr("tuning.json.lock is locked by another process"),
                             testing::Not(HasSubstr("a member has not come"))));
}

TEST(TuneJobs, OfAForcedOperationLeaveItOut) {
  Config config = loop_config();
  EXPECT_TRUE(config.set("coll_broadcast", "chain"));
  auto job = Job::in_process(2, config);
  ASSERT_TRUE(job) << job.status().text();
  job->run_each([&](Endpoint& me) {
    const auto report = tune(me.world(), kOneOperation, kOneSize, {});
    ASSERT_TRUE(report) << report.status().text();
    EXPECT_EQ(report->left_out, 1u);
    EXPECT_EQ(report->left_out_by_setting, 1u);
    EXPECT_EQ(report->left_out_by_time, 0u);
  });
  EXPECT_TRUE(job->finish());
}

// The others must not wait for ever: their calls on that team fail, and other teams go on.
TEST(TuneJobs, WhoseWorkDoesNotReturnEndWithAnError) {
  auto job = Job::in_process(3, loop_config());
  ASSERT_TRUE(job) << job.status().text();
  std::atomic<int> told{0};
  testing::internal::CaptureStderr();
  job->run_each([&](Endpoint& me) {
    auto team = me.world().dup();
    ASSERT_TRUE(team);
    TuneOptions options;
    options.time = 50ms;
    options.work_limit = 10ms;
    if (me.rank() == 1) {
      options.work = [&] {
        const auto end = std::chrono::steady_clock::now() + 60s;
        while (told != 2 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
        EXPECT_EQ(told, 2) << "the others do not give up";
      };
    }
    const auto report = tune(*team, kOneOperation, kOneSize, options);
    EXPECT_FALSE(report);
    if (me.rank() != 1) {
      EXPECT_EQ(report.status().code(), ErrorCode::timed_out) << report.status().text();
      ++told;
    }
    std::uint64_t word = 1;
    EXPECT_FALSE(all_reduce(*team, std::span(&word, 1), ReduceOp::sum));
    ASSERT_TRUE(all_reduce(me.world(), std::span(&word, 1), ReduceOp::sum));
    EXPECT_EQ(word, 3u);
  });
  EXPECT_TRUE(job->finish());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("a member has not come for 5 s"));
}

// Short calls are measured one after the other, without a barrier. A handler keeps a member somewhere among them.
TEST(TuneJobs, OfShortCallsEndWithAnErrorIfAMemberStops) {
  Config config;
  EXPECT_TRUE(config.set("conduit", "smp"));
  EXPECT_TRUE(config.set("segment_bytes", "64K"));
  auto job = Job::in_process(3, config);
  ASSERT_TRUE(job) << job.status().text();
  std::atomic<bool> told{false};
  std::atomic<bool> searches{false};
  testing::internal::CaptureStderr();
  job->run_each([&](Endpoint& me) {
    const auto stop = on_short_request<NoArguments>(me, [&](auto&, const NoArguments&) {
      const auto end = std::chrono::steady_clock::now() + 60s;
      while (!told && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
      EXPECT_TRUE(told) << "the other member does not give up";
    });
    ASSERT_TRUE(stop);
    auto pair = me.world().split(me.rank() / 2, 0);
    ASSERT_TRUE(pair);
    if (me.rank() == 2) {
      const auto end = std::chrono::steady_clock::now() + 60s;
      while (!searches && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
      std::this_thread::sleep_for(20ms);
      ASSERT_TRUE(request(me, 1, *stop));
    } else {
      TuneOptions options;
      options.time = 500ms;
      options.work_limit = 10ms;
      options.exhaustive = 1000;  // so it is still at it when the handler runs
      searches = true;
      const auto report =
          tune(**pair, kOneOperation, std::array<std::uint64_t, 4>{8, 64, 512, 4096}, options);
      EXPECT_FALSE(report);
      if (me.rank() == 0) {
        EXPECT_EQ(report.status().code(), ErrorCode::timed_out) << report.status().text();
        told = true;
      }
    }
    std::uint64_t word = 1;
    ASSERT_TRUE(all_reduce(me.world(), std::span(&word, 1), ReduceOp::sum));
    EXPECT_EQ(word, 3u);
  });
  EXPECT_TRUE(job->finish());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("a member has not come"));
}

TEST(TuneJobs, WhoseWorkIsTooSlowSayWhere) {
  auto job = Job::in_process(2, loop_config());
  ASSERT_TRUE(job) << job.status().text();
  testing::internal::CaptureStderr();
  job->run_each([&](Endpoint& me) {
    TuneOptions options;
    options.work_limit = 1ms;
    if (me.rank() == 1) options.work = [] { std::this_thread::sleep_for(5ms); };
    const auto report = tune(me.world(), kOneOperation, kOneSize, options);
    EXPECT_EQ(report.status(), Status(ErrorCode::timed_out, 1));
  });
  EXPECT_TRUE(job->finish());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("its limit is 1 ms"));
}

}  // namespace
}  // namespace aqueduct::coll
