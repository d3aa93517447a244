// How one process ends by Job::leave. Jobs of several processes are in tests/fault/leave_test.cpp.

#include <aqueduct/aqueduct.hpp>

#include "runtime/leaving.hpp"
#include "tests/support/forked.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

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

// The barriers of finish may be reached at once, without a check.
TEST(LeaveJob, ByRequestHappensInFinish) {
  EXPECT_EQ(in_a_child([] {
              auto job = job_that_leaves();
              if (!job) return 1;
              job->request_leave(8);
              return job->finish() ? 2 : 3;
            }),
            8);
}

TEST(LeaveJob, ByRequestHappensWhenTheJobIsDestroyed) {
  EXPECT_EQ(in_a_child([] {
              auto job = job_that_leaves();
              if (!job) return 1;
              job->request_leave(8);
              job.reset();
              return 2;
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

/// A launcher with a second process, which is told everything at once.
class TwoProcesses final : public bootstrap::Bootstrap {
 public:
  std::string_view launcher() const noexcept override { return "test"; }
  std::uint32_t process() const noexcept override { return 0; }
  std::uint32_t processes() const noexcept override { return 2; }
  std::uint64_t job() const noexcept override { return 1; }
  Result<std::vector<std::vector<std::byte>>> exchange(std::span<const std::byte>) override {
    return ErrorCode::bootstrap_failed;
  }
  void poll_losses(const std::function<void(std::uint32_t)>&) noexcept override {}
  void leave() noexcept override {}
  void abort(int, std::string_view) noexcept override {}
};

// As a wait does that learns of the exit from the launcher.
TEST(LeaveJob, ByAWaitInAnExitHandlerAfterTheExitDoesNotWaitForItself) {
  EXPECT_EQ(in_a_child(
                []() -> int {
                  runtime::Leaving leaving(std::chrono::seconds(60));
                  TwoProcesses launcher;
                  leaving.at_exit(7, launcher);
                  leaving.end(8, nullptr);
                },
                /*seconds=*/15),
            7);
}

// Whatever races with the end of a job: a request is either obeyed, or never heard of.
TEST(LeaveJob, OnceClosedHearsNoRequest) {
  EXPECT_EQ(in_a_child([] {
              runtime::Leaving leaving(std::chrono::milliseconds(10));
              TwoProcesses launcher;
              leaving.close(launcher);
              leaving.close(launcher);
              if (leaving.request(8) || leaving.requested()) return 1;
              std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the system would have killed it
              return 2;
            }),
            2);
  EXPECT_EQ(in_a_child([] {
              runtime::Leaving leaving(std::chrono::seconds(60));
              TwoProcesses launcher;
              if (!leaving.request(8) || leaving.request(9)) return 1;
              leaving.close(launcher);
              return 2;
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
