// What happens to ranks that share a host's memory: one is stopped, and the memory that all may have together ends.

#include "tests/fault/exchange.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <signal.h>
#include <unistd.h>

namespace aqueduct::fault {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

Words here(int ranks, const Words& settings, const Words& what) {
  return aqrun(
      joined(joined({"-n", std::to_string(ranks), "--bind", "none", "--timeout", "35"}, settings), what));
}

// Nothing on this host tells a stopped rank from one that computes: nobody is lost, and who waits says for what. Who is late
// is known only where that is a barrier or a rank's own answer, not where signals of all are counted.
TEST(SmpRank, StoppedForThreeSecondsHoldsOthersUpWhoSaySoAndGoesOn) {
  const Exchange exchange;
  Launch job(here(4, {"-e", "AQUEDUCT_STALL_WARN=1s"}, exchange.command()));
  ASSERT_TRUE(exchange.goes_on(job)) << job.err();
  const pid_t pid = pid_of(job, 2);
  ASSERT_GT(pid, 0) << job.out();
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  std::this_thread::sleep_for(3s);
  ASSERT_EQ(::kill(pid, SIGCONT), 0);
  ASSERT_TRUE(exchange.goes_on(job)) << job.out() << job.err();
  exchange.end();
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_EQ(job.lines("wrong 0").size(), 4u) << job.out();
  EXPECT_NE(job.err().find("has waited 1.0 s for "), std::string::npos) << job.err();
  EXPECT_EQ(job.err().find("lost"), std::string::npos) << job.err();
}

/// A group of the kernel's that lets its processes have so much memory; empty where that cannot be had.
class MemoryGroup {
 public:
  explicit MemoryGroup(std::size_t bytes) {
    const auto name = "aqueduct-test-" + std::to_string(::getpid());
    for (const auto& [root, limit] : {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
                                      std::pair{"/sys/fs/cgroup", "memory.max"}}) {
      std::error_code problem;
      const auto path = std::filesystem::path(root) / name;
      if (!std::filesystem::exists(std::filesystem::path(root) / "cgroup.procs") ||
          !std::filesystem::create_directory(path, problem)) {
        continue;
      }
      path_ = path;
      std::ofstream(path / limit) << bytes << std::flush;
      std::size_t found = 0;
      if (std::ifstream(path / limit) >> found && found == bytes) return;
      remove();
    }
  }
  ~MemoryGroup() { remove(); }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;

  bool exists() const { return !path_.empty(); }
  /// A command that joins it and becomes the other one.
  Words command(const Words& other) const {
    return joined(
        {"/bin/sh", "-c", "echo $$ > " + (path_ / "cgroup.procs").string() + " && exec \"$0\" \"$@\""},
        other);
  }

 private:
  void remove() {
    std::error_code ignored;
    // Its last process may be about to go.
    for (int i = 0; i < 100 && !path_.empty() && !std::filesystem::remove(path_, ignored); ++i) {
      std::this_thread::sleep_for(20ms);
    }
    path_.clear();
  }

  std::filesystem::path path_;
};

// The kernel gives no error for memory above such a limit: it kills who touches it. That must look like any other death.
TEST(SmpMemory, AboveTheLimitOfItsGroupEndsTheJobWithTheReason) {
  const MemoryGroup group(96u << 20);
  if (!group.exists()) GTEST_SKIP() << "memory groups cannot be made here";
  const auto since = Clock::now();
  const Exchange exchange;
  Launch job(group.command(here(2, {"-e", "AQUEDUCT_SEGMENT_BYTES=512M"}, exchange.command({"100000000"}))));
  EXPECT_EQ(job.status(), 137) << job.out() << job.err();
  EXPECT_LT(Clock::now() - since, 10s) << job.out() << job.err();
  EXPECT_NE(job.err().find("was killed by signal 9 (Killed)"), std::string::npos) << job.err();
}

TEST(SmpMemory, BelowTheLimitOfItsGroupIsEnough) {
  const MemoryGroup group(96u << 20);
  if (!group.exists()) GTEST_SKIP() << "memory groups cannot be made here";
  const Exchange exchange;
  Launch job(group.command(here(2, {"-e", "AQUEDUCT_SEGMENT_BYTES=4M"}, exchange.command({"100000"}))));
  ASSERT_TRUE(exchange.goes_on(job)) << job.out() << job.err();
  exchange.expect_right_end(job, 2);
}

}  // namespace
}  // namespace aqueduct::fault
