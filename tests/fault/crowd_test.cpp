// More ranks than cores, and the cost of waiting; stalls; a system that forbids cross-memory calls.

#include "tests/fault/launch.hpp"
#include "tests/fault/sanitized.hpp"

#include <gtest/gtest.h>

#include <string>

namespace aqueduct::fault {
namespace {

TEST(Crowd, OfThirtyTwoRanksPassesATokenAndBarriers) {
  Launch job(aqrun({"-n", "32", "--timeout", "35", program("fault_crowd"), "ring"}));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.err(), "");
  EXPECT_LT(job.took().count(), 15.0);  // measured: far below a second
}

// Requirements HT-15 and N-71. Ranks that only spin would take a time slice of some milliseconds for each hop. The bound is 3 ms, one
// slice, for each barrier of all; measured: 840 us while four builds kept the same two processors busy.
TEST(Crowd, OfSixteenRanksOnTwoProcessorsEndsTenThousandBarriersInTime) {
  const int count = kSanitized ? 1'000 : 10'000;
  Launch job(aqrun({"-n", "16", "--bind", "none", "--timeout", "35", program("fault_crowd"), "barriers",
                    std::to_string(count)}));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.err(), "");
  EXPECT_LT(job.took().count(), 30.0);
}

TEST(Crowd, OfTheLargestSizeStartsAndEnds) {
  Launch job(aqrun(
      {"-n", "256", "--timeout", "35", "-e", "AQUEDUCT_SEGMENT_BYTES=64K", program("fault_crowd"), "hello"}));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.err(), "");
  EXPECT_EQ(job.lines("hello from ").size(), 256u);
  EXPECT_LT(job.took().count(), 30.0);
}

// core/wait.cpp specifies 2 % of one core for all eight ranks, or 3 % with two conduits. Measured here: 1.5 %,
// without the time of start and end, which a second job measures.
TEST(Crowd, ThatWaitsSleeps) {
  Launch start(aqrun({"-n", "8", "--timeout", "30", program("fault_crowd"), "hello"}));
  EXPECT_EQ(start.status(), 0) << start.err();
  Launch job(aqrun({"-n", "8", "--timeout", "30", program("fault_crowd"), "idle"}));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_GE(job.took().count(), 4.0);
  const auto waiting = job.processor_time() - start.processor_time();  // of the ranks and aqrun together
  EXPECT_LT(waiting.count(), 0.03 * job.took().count());
}

TEST(Stall, OfAWaitForASignalSaysWhatForOnWhomAndTheQueues) {
  Launch job(aqrun(
      {"-n", "2", "--timeout", "30", "-e", "AQUEDUCT_STALL_WARN=200ms", program("fault_stall"), "signal"}));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  for (const char* part : {" s for signal 0 to reach 1 (it is 0)", "rank 1 is not known to be lost over smp",
                           "it is alive", "packets lie in its ring", "request credits left there",
                           "operations in flight", "AQUEDUCT_STALL_WARN"}) {
    EXPECT_TRUE(has(job.err(), part)) << part << " is not in:\n" << job.err();
  }
}

TEST(Stall, OfABarrierSaysWhoIsMissing) {
  Launch job(aqrun(
      {"-n", "2", "--timeout", "30", "-e", "AQUEDUCT_STALL_WARN=200ms", program("fault_stall"), "barrier"}));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_TRUE(has(job.err(),
                  " s for phase 2 of the barrier of a team of 2 ranks (member 0), in which it "
                  "waits for rank 1;"))
      << job.err();
}

TEST(Stall, IsNotReportedBeforeItsTime) {
  Launch job(
      aqrun({"-n", "3", "--timeout", "30", "-e", "AQUEDUCT_STALL_WARN=0", program("fault_crowd"), "idle"}));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.err(), "");
}

// Where the system has no free huge pages, a file of them can be made, but not mapped. 2 MiB need no rounding up.
TEST(Crowd, OrdinaryPagesServeWhereHugeOnesAreShort) {
  for (const char* const bytes : {"2M", "3M"}) {
    Launch job(aqrun({"-n", "2", "--timeout", "30", "-e", "AQUEDUCT_SMP_HUGE_PAGES=hugetlb", "-e",
                      std::string("AQUEDUCT_SEGMENT_BYTES=") + bytes, program("fault_cma")}));
    EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  }
}

class CmaDenied : public testing::Test {
 protected:
  void SetUp() override {
    Launch probe({program("deny_cma"), "true"});
    if (probe.status() == 77) GTEST_SKIP() << probe.err();
  }
};

TEST_F(CmaDenied, PacketsServeMemoryThatCannotBeMapped) {
  Launch job(aqrun(
      {"-n", "2", "--timeout", "30", "-e", "AQUEDUCT_LOG=info", program("deny_cma"), program("fault_cma")}));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_EQ(job.lines("native 0 reference 2").size(), 2u) << job.out();
  EXPECT_EQ(count(job.err(), "cross-memory calls are not allowed here"), 2u)
      << job.err();  // once per process
}

// The same program where the calls are allowed, or the test above would prove nothing.
TEST_F(CmaDenied, ElseTheSystemDoesIt) {
  Launch job(aqrun({"-n", "2", "--timeout", "30", program("fault_cma")}));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  if (job.lines("native 0 reference 2").size() == 2) GTEST_SKIP() << "cross-memory calls are forbidden here";
  EXPECT_EQ(job.lines("native 2 reference 0").size(), 2u) << job.out();
}

TEST_F(CmaDenied, TheConformanceKitPasses) {
  Launch kit(
      {program("deny_cma"), program("aqconform"), "--conduit", "smp", "--fabric", "smp-processes",
       "--gtest_filter=*Segment*:*Put*:*Get*:*SourceReuse*:*Signal*:*Atomic*:*AmLong*:*CollectiveCopies*",
       "--gtest_brief=1"});
  EXPECT_EQ(kit.status(), 0) << kit.out() << kit.err();
}

}  // namespace
}  // namespace aqueduct::fault
