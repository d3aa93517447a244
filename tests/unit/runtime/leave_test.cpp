// How one process ends by Job::leave. Jobs of several processes are in tests/fault/leave_test.cpp.

#include <aqueduct/aqueduct.hpp>

#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include <signal.h>

namespace aqueduct {
namespace {

using support::in_a_child;

/// A job of two ranks in this process, whose processes end within `limit`.
std::optional<Job> job_that_leaves(const char* limit = "10s") {
  Config config = Config::from_variables({});
  if (!config.set("segment_bytes", "64K") || !config.set("exit_timeout", limit)) return std::nullopt;
  auto job = Job::in_process(2, config);
  if (!job) return std::nullopt;
  return std::optional<Job>(std::move(*job));
}

// TSan allows no new threads in a child of a process with threads, and leave starts one.
#if !defined(__SANITIZE_THREAD__)
TEST(LeaveJob, EndsTheProcessWithTheCode) {
  for (const int code : {0, 7, 255}) {
    EXPECT_EQ(in_a_child([code] {
                auto job = job_that_leaves();
                if (job) job->leave(code);
                return 1;
              }),
              code);
  }
}

TEST(LeaveJob, ByRequestHappensAtTheNextWait) {
  EXPECT_EQ(in_a_child([] {
              auto job = job_that_leaves();
              if (!job) return 1;
              job->request_leave(8);
              job->request_leave(9);  // the first one counts
              const Status waited = wait_until(job->endpoint(), 0, 1, kAnyRank, std::chrono::seconds(15));
              return waited ? 2 : 3;
            }),
            8);
}

TEST(LeaveJob, ByRequestReachesAProcessThatOnlyPolls) {
  EXPECT_EQ(in_a_child([] {
              auto job = job_that_leaves();
              if (!job) return 1;
              job->request_leave(8);
              for (;;) job->endpoint().progress();
            }),
            8);
}
#endif

TEST(LeaveJob, ByRequestEndsAProcessThatNeverChecks) {
  EXPECT_EQ(in_a_child([] {
              auto job = job_that_leaves("10ms");
              if (!job) return 1;
              job->request_leave(8);
              std::this_thread::sleep_for(std::chrono::seconds(15));
              return 2;
            }),
            128 + SIGKILL);
}

TEST(LeaveJob, AfterFinishARequestIsNotHeard) {
  EXPECT_EQ(in_a_child([] {
              auto job = job_that_leaves("10ms");
              if (!job || !job->finish()) return 1;
              job->request_leave(8);
              std::this_thread::sleep_for(
                  std::chrono::milliseconds(100));  // the system would have killed it by now
              return 4;
            }),
            4);
}

TEST(LeaveJob, TakesALimitBetweenAMillisecondAndAnHour) {
  Config config = Config::from_variables({});
  for (const char* good : {"1ms", "3600s"}) EXPECT_TRUE(config.set("exit_timeout", good)) << good;
  for (const char* bad : {"0", "999us", "3601s", "soon"}) {
    EXPECT_EQ(config.set("exit_timeout", bad).code(), ErrorCode::bad_setting) << bad;
  }
}

}  // namespace
}  // namespace aqueduct
