// aqrun and ranks whose stack is small: `ulimit -s` of a batch system, or of a careful user.

#include "tests/fault/launch.hpp"

#include <gtest/gtest.h>

namespace aqueduct::fault {
namespace {

/// The command with a stack of 64 KiB, which its ranks get too.
std::vector<std::string> with_small_stack(std::vector<std::string> command) {
  command.insert(command.begin(), {"/bin/sh", "-c", "ulimit -s 64; exec \"$0\" \"$@\""});
  return command;
}

TEST(SmallStack, RunsAJobOfOtherPrograms) {
  Launch job(with_small_stack(aqrun({"-n", "3", "--tag", "--timeout", "30", "/bin/echo", "said"})));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.lines("said").size(), 3u) << job.out() << job.err();
}

TEST(SmallStack, ForwardsMuchOutput) {
  Launch job(with_small_stack(aqrun({"-n", "2", "--timeout", "30", "/bin/sh", "-c",
                                     "i=0; while [ $i -lt 20000 ]; do echo said; i=$((i + 1)); done"})));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.lines("said").size(), 40'000u);
}

// The ranks take part in the job's exchanges, so aqrun serves them.
TEST(SmallStack, RunsRanks) {
  for (const char* near : {"on", "off"}) {
    Launch job(
        with_small_stack(aqrun({"-n", "3", "--timeout", "30", "--conduit", "udp", "-e",
                                std::string("AQUEDUCT_NEAR=") + near, program("fault_finish_early")})));
    EXPECT_EQ(job.status(), 0) << near << job.out() << job.err();
    EXPECT_EQ(job.lines("finish").size(), 3u) << near << job.out() << job.err();
  }
}

}  // namespace
}  // namespace aqueduct::fault
