// Hardships for a running job: no descriptor left, constant signals, another user's job on the
// same host, and many jobs one after the other.

#include "tests/fault/by_turns.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

namespace aqueduct::fault {
namespace {

using support::in_a_child;

class Hardship : public testing::TestWithParam<const char*> {};

TEST_P(Hardship, NoDescriptorLeftInMidJob) {
  EXPECT_EQ(in_a_child([] {
              return live(config_over(GetParam()),
                          [](Job&) {
                            const int next = ::open("/", O_PATH | O_CLOEXEC);
                            ::close(next);
                            const auto most = static_cast<rlim_t>(next);
                            const rlimit limit{most, most};
                            if (::setrlimit(RLIMIT_NOFILE, &limit) != 0 || ::open("/", O_PATH) >= 0)
                              ::_exit(99);
                          })
                  .exit_code();
            }),
            0);
}

volatile std::sig_atomic_t g_interrupted = 0;

// The handler is installed without SA_RESTART, so system calls are interrupted.
TEST_P(Hardship, InterruptedByASignalEvery200Microseconds) {
  EXPECT_EQ(
      in_a_child([] {
        struct sigaction action {};
        action.sa_handler = [](int) { g_interrupted = g_interrupted + 1; };
        const itimerval storm{{0, 200}, {0, 200}};
        if (::sigaction(SIGALRM, &action, nullptr) != 0 || ::setitimer(ITIMER_REAL, &storm, nullptr) != 0)
          return 99;
        for (int job = 0; job < 10 || g_interrupted < 20; ++job) {
          if (const Status status = live(config_over(GetParam())); !status) return status.exit_code();
        }
        return 0;
      }),
      0);
}

std::size_t lines_of(const char* file) {
  std::ifstream in(file);
  return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(in), {}, '\n'));
}
std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// 200 jobs: anything that each job leaks would be there 150 times more often at the end than after the first 50.
TEST_P(Hardship, JobAfterJobLeavesNothing) {
  EXPECT_EQ(in_a_child(
                [] {
                  const Config config = config_over(GetParam());
                  std::size_t descriptors = 0;
                  std::size_t mappings = 0;
                  std::size_t heap = 0;
                  for (int round = 0; round < 200; ++round) {
                    auto job = Job::in_process(2, config);
                    if (!job ||
                        !done_by_turns(*job, put_value_nb(job->endpoint(0), GlobalPtr<int>{1, 0}, 1)) ||
                        !job->finish())
                      return 1;
                    if (round != 50) continue;
                    descriptors = open_descriptors();
                    mappings = lines_of("/proc/self/maps");
                    heap = ::mallinfo2().uordblks;
                  }
                  if (open_descriptors() > descriptors) return 2;
                  if (lines_of("/proc/self/maps") > mappings + 20) return 3;  // malloc's own mappings vary
                  return ::mallinfo2().uordblks > heap + 150 * 16 ? 4 : 0;
                },
                60),
            0);
}

INSTANTIATE_TEST_SUITE_P(Of, Hardship, testing::Values("smp", "udp"),
                         [](const auto& info) { return std::string(info.param); });

// Both use files in the same folder at the same time: neither treats the other's files as its own.
TEST(Hardships, OfTwoUsersOnOneHost) {
  if (::getuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  const support::ScratchFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 01777), 0);
  for (const char* const memory : {"posix", "memfd"}) {
    Config config = config_over("smp");
    static_cast<void>(config.set("smp_memory", memory));
    static_cast<void>(config.set("smp_directory", folder.path()));
    const Status ours = live(config, [&](Job&) {
      EXPECT_EQ(in_a_child([&] {
                  if (::setgid(65534) != 0 || ::setuid(65534) != 0) return 99;
                  return live(config).exit_code();
                }),
                0)
          << memory;
    });
    EXPECT_TRUE(ours) << memory << ": " << ours.text();
  }
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace aqueduct::fault
