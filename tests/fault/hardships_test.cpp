// Hardships for a running job: no descriptor left, constant signals, closed standard streams and forked
// children over network libraries, another user's job on the same host, and many jobs one after the other.

#include "tests/fault/by_turns.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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

/// The libraries of ofi and ucx open descriptors and start threads as they like.
class OverALibrary : public testing::TestWithParam<const char*> {
 protected:
  /// The bound of a child. Only to load libfabric takes 0.2 s of a processor. That took 21 s where a job had a hundredth of one, and
  /// the job was no slower than that.
  static constexpr unsigned kSeconds = 100;

  void SetUp() override {
    if (!Config::from_variables({}).set("conduit", GetParam()))
      GTEST_SKIP() << "this build has no " << GetParam();
  }
  static Config config() {
    Config made = config_over(GetParam());
    if (GetParam() == std::string("ofi")) {
      EXPECT_TRUE(made.set("ofi_provider", "tcp;ofi_rxm"));
    }
    return made;
  }
  /// Moves bytes both ways. Each rank has a thread: while a library connects, even a put_nb may wait for its peer.
  static bool use(Job& job) {
    std::atomic<bool> right = true;
    {
      std::vector<std::jthread> threads;
      for (Rank rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&job, &right, rank] {
          Endpoint& me = job.endpoint(rank);
          std::array<int, 500> sent{};
          std::array<int, 500> got{};
          sent.fill(42);
          const GlobalPtr<int> there{1 - rank, 64};
          if (!put(me, there, sent) || !get(me, got, there) || got != sent || !me.barrier()) right = false;
        });
      }
    }
    return right;
  }
};

// A program may have closed its standard streams. What it writes there must not reach a library's socket.
TEST_P(OverALibrary, TheStandardStreamsOfAJobStayClosed) {
  EXPECT_EQ(in_a_child(
                [] {
                  for (const int stream : {0, 1, 2}) ::close(stream);
                  {
                    auto job = Job::in_process(2, config());
                    if (!job) return 1;
                    if (!use(*job)) return 2;
                    for (const int stream : {0, 1, 2}) {
                      char word = 'x';
                      if (::write(stream, &word, 1) != -1 || errno != EBADF) return 3;
                      if (::read(stream, &word, 1) != -1 || errno != EBADF) return 4;
                    }
                    if (!job->finish()) return 5;
                  }
                  for (const int stream : {0, 1, 2}) {
                    if (::fcntl(stream, F_GETFD) != -1) return 6;
                  }
                  return 0;
                },
                kSeconds),
            0);
}

// As a child that returns from main: nothing of the parent's may end with it.
TEST_P(OverALibrary, AForkedChildThatEndsItsJobLeavesTheParentsAlone) {
  EXPECT_EQ(in_a_child(
                [] {
                  auto started = Job::in_process(2, config());
                  if (!started) return 1;
                  std::optional<Job> job(std::move(*started));
                  if (!use(*job)) return 2;
                  const int child = in_a_child([&] {
                    if (job->finish().code() != ErrorCode::invalid_argument) return 1;
                    job.reset();
                    return 0;
                  });
                  if (child != 0) return 10 + child;
                  if (!use(*job)) return 3;
                  for (Rank rank = 0; rank < 2; ++rank) {
                    if (job->endpoint(rank).is_lost(1 - rank)) return 4;
                  }
                  return job->finish() ? 0 : 5;
                },
                kSeconds),
            0);
}

INSTANTIATE_TEST_SUITE_P(Of, OverALibrary, testing::Values("ofi", "ucx"),
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
