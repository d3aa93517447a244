// Ranks that share a host's memory: one is stopped, or the memory limit of all of them is reached.

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

// On one host a stopped rank looks like one that computes: it is not lost, and waiting ranks report what
// they wait for. They can name the late rank only if they wait in a barrier or for that rank's own
// answer, not for a counter that all signal.
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

/// A memory cgroup that limits its processes; empty if the system does not allow one.
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
  /// A command line that joins the group and then executes `other`.
  Words command(const Words& other) const {
    return joined(
        {"/bin/sh", "-c", "echo $$ > " + (path_ / "cgroup.procs").string() + " && exec \"$0\" \"$@\""},
        other);
  }

 private:
  void remove() {
    std::error_code ignored;
    // The group's last process may still be exiting.
    for (int i = 0; i < 100 && !path_.empty() && !std::filesystem::remove(path_, ignored); ++i) {
      std::this_thread::sleep_for(20ms);
    }
    path_.clear();
  }

  std::filesystem::path path_;
};

// Nothing of a rank in Job::finish reaches the others where a barrier costs no message; their stall reports ask it.
TEST(SmpRank, ThatFinishesWhereOthersHaveASumHoldsNobodyUp) {
  Launch job(here(3, {"-e", "AQUEDUCT_STALL_WARN=300ms"}, {program("fault_finish_early"), "sum"}));
  const auto since = Clock::now();
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_LT(Clock::now() - since, 10s);
  EXPECT_EQ(job.lines("call mismatch").size(), 2u) << job.out() << job.err();
  EXPECT_EQ(job.lines("finish ok").size(), 3u) << job.out() << job.err();
  EXPECT_NE(job.err().find("rank 1 is in Job::finish and makes no further call"), std::string::npos)
      << job.err();
}

// One that has left would end the others' barriers with peer_lost; one that waited for theirs, and they for it, would wait for ever.
TEST(SmpRank, ThatFinishesWhereOthersHaveBarriersEndsThemWithMismatch) {
  Launch job(here(3, {}, {program("fault_finish_early"), "barriers"}));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_EQ(job.lines("call mismatch").size(), 8u) << job.out() << job.err();
  EXPECT_EQ(job.lines("finish ok").size(), 3u) << job.out() << job.err();
}

TEST(SmpRank, ThatFinishesWhereOthersHaveLeftMoreBarriersInFlightEndsWell) {
  Launch job(here(3, {}, {program("fault_finish_early"), "left"}));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_EQ(job.lines("finish ok").size(), 3u) << job.out() << job.err();
}

// Above such a limit the kernel returns no error, but kills the process that touches the
// memory. It must look like any other death.
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
