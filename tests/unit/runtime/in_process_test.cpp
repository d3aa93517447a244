#include <aqueduct/am.hpp>
#include <aqueduct/continuation.hpp>
#include <aqueduct/job.hpp>

#include "tests/support/forked.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <new>
#include <system_error>

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace aqueduct {
namespace {

TEST(InProcess, OfMoreRanksThanAProcessMayHoldIsRefusedAtOnce) {
  for (const Rank ranks : {Rank{0}, Rank{1025}, kNoRank - 1, kNoRank}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(Job::in_process(ranks, Config()).status().code(), ErrorCode::invalid_argument) << ranks;
    EXPECT_THAT(
        testing::internal::GetCapturedStderr(),
        testing::HasSubstr(std::to_string(ranks) + " ranks: a process may hold 1 to 1024; start several"));
  }
}

TEST(InProcess, OfMoreRanksThanSmpServesSaysWhichConduitServesThem) {
  Config config;
  ASSERT_TRUE(config.set("log", "error"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(Job::in_process(257, config).status().code(), ErrorCode::not_supported);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, testing::HasSubstr("smp serves 256 ranks of a host, not 257"));
  EXPECT_THAT(said, testing::HasSubstr("AQUEDUCT_CONDUIT=loop"));
}

// The endpoint would end under the handler.
TEST(InProcess, DoesNotFinishInsideAHandlerOrAContinuation) {
  auto job = Job::in_process(2);
  ASSERT_TRUE(job);
  Endpoint& me = job->endpoint(0);
  Status in_handler;
  Status in_continuation;
  const auto finish = on_short_request<NoArguments>(
      me, [&](RequestContext&, const NoArguments&) { in_handler = job->finish(); });
  ASSERT_TRUE(finish);
  ASSERT_TRUE(request(me, 0, *finish));
  ASSERT_TRUE(Event().then(me, [&](Status) { in_continuation = job->finish(); }));
  ASSERT_TRUE(me.wait_until([&] { return !in_handler && !in_continuation; }, std::chrono::seconds(20)));
  EXPECT_EQ(in_handler.code(), ErrorCode::in_handler);
  EXPECT_EQ(in_continuation.code(), ErrorCode::in_handler);
  EXPECT_EQ(job->endpoints(), 2u);
  EXPECT_TRUE(job->finish());
}

#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)  // these need addresses without end
// Bodies would wait for those whose threads are not there.
TEST(InProcess, RunsNoBodyIfAThreadCannotBeStarted) {
  const auto check = [] {
    Config config;
    if (!config.set("conduit", "smp") || !config.set("log", "off")) return 1;
    auto job = Job::in_process(8, config);
    if (!job) return 2;
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit{};
    if (pages == 0) return 0;  // there is no /proc
    pthread_attr_t stacks;
    if (::pthread_attr_init(&stacks) != 0 ||
        ::pthread_attr_setstacksize(&stacks, std::size_t{8} << 20) != 0 ||
        ::pthread_setattr_default_np(&stacks) != 0)
      return 9;
    if (::getrlimit(RLIMIT_AS, &limit) != 0) return 3;
    const rlimit before = limit;
    // Room for some stacks of 8 MiB, and not for eight.
    limit.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + (std::uint64_t{30} << 20);
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return 4;
    std::atomic<int> bodies{0};
    bool thrown = false;
    const auto body = [&](Endpoint& ep) {
      ++bodies;
      static_cast<void>(ep.barrier());
    };
    try {
      job->run_each(body);
    } catch (const std::system_error&) {
      thrown = true;
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    if (!thrown || bodies != 0) return 5;
    if (::setrlimit(RLIMIT_AS, &before) != 0) return 6;
    job->run_each(body);
    if (bodies != 8) return 7;
    return job->finish().ok() ? 0 : 8;
  };
  EXPECT_EQ(support::in_a_child(check), 0);
}
#endif

}  // namespace
}  // namespace aqueduct
