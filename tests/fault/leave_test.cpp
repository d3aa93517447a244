// A rank ends the whole job with a code: from anywhere, in bounded time, and aqrun reports and returns the code.

#include "tests/fault/launch.hpp"
#include "tests/support/scratch_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <ostream>
#include <string>

namespace aqueduct::fault {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kTooLong = 15;  // s; the launcher's grace here is 20 s, the limit of a process 5 s
constexpr const char* kConduits[] = {"smp", "udp"};

/// `aqrun -n 3 --grace GRACE MORE fault_leave HOW` over smp or udp.
std::vector<std::string> leaving(const char* how, const std::string& conduit,
                                 const std::vector<std::string>& more = {}, const char* grace = "20") {
  std::vector<std::string> all{"-n", "3", "--timeout", "30", "--grace", grace, "--verbose"};
  if (conduit != "smp") {
    all.insert(all.end(), {"-e", "AQUEDUCT_CONDUIT=" + conduit, "-e", "AQUEDUCT_NEAR=off"});
  }
  all.insert(all.end(), more.begin(), more.end());
  all.insert(all.end(), {program("fault_leave"), how});
  return aqrun(all);
}

/// How many ranks have ended with this status, by aqrun's report.
std::size_t ended_with(const Launch& job, int status) {
  return count(job.err(), ") exited with status " + std::to_string(status) + "\n");
}

struct Leaving {
  const char* how;
  int code;
  const char* conduit;
};
void PrintTo(const Leaving& way, std::ostream* out) { *out << way.how << " over " << way.conduit; }

class Leave : public testing::TestWithParam<Leaving> {};

TEST_P(Leave, EndsAllRanksWithTheCode) {
  const auto& [how, code, conduit] = GetParam();
  Launch job(leaving(how, conduit));
  EXPECT_EQ(job.status(), code) << job.out() << job.err();
  EXPECT_LT(job.took().count(), kTooLong);
  EXPECT_THAT(job.err(), HasSubstr("aqrun: rank 1 (pid "));
  EXPECT_EQ(count(job.err(), ") left with code " + std::to_string(code) + " (Job::leave or exit)"), 1u)
      << job.err();
  EXPECT_EQ(ended_with(job, code), 3u) << "aqrun had to end a rank\n" << job.err();
  EXPECT_THAT(job.out(), Not(HasSubstr("returned")));
  EXPECT_THAT(job.err(), Not(HasSubstr("without leaving")));
}
INSTANTIATE_TEST_SUITE_P(Faults, Leave,
                         testing::Values(Leaving{"one", 7, "smp"}, Leaving{"one", 7, "udp"},
                                         Leaving{"zero", 0, "smp"}, Leaving{"zero", 0, "udp"},
                                         Leaving{"handler", 7, "smp"}, Leaving{"handler", 7, "udp"},
                                         Leaving{"thread", 7, "smp"}, Leaving{"thread", 7, "udp"},
                                         Leaving{"threads", 7, "smp"}, Leaving{"lock", 7, "smp"},
                                         Leaving{"signal", 7, "smp"}, Leaving{"signal", 7, "udp"},
                                         Leaving{"signal-exit", 7, "smp"}, Leaving{"signal-finish", 7, "smp"},
                                         Leaving{"signal-finish", 7, "udp"}, Leaving{"exit", 7, "smp"},
                                         Leaving{"exit", 7, "udp"}, Leaving{"return-open", 7, "smp"}),
                         [](const auto& info) {
                           std::string name = info.param.how;
                           for (char& letter : name) {
                             if (letter == '-') letter = '_';
                           }
                           return name + "_" + info.param.conduit;
                         });

TEST(Leave, PrintsWhatAllRanksHaveBuffered) {
  Launch job(leaving("one", "smp"));
  EXPECT_EQ(job.status(), 7) << job.err();
  EXPECT_EQ(job.lines(", not flushed").size(), 3u) << job.out();
}

TEST(Leave, ByExitRunsTheExitHandlersOfThatRank) {
  Launch job(leaving("exit", "smp"));
  EXPECT_EQ(job.status(), 7) << job.err();
  EXPECT_EQ(job.lines("exit handler").size(), 1u) << job.out();
}

// The handler was registered before the Job was made, so it runs after the exit has been announced.
TEST(Leave, ByExitEndsAtAnExitHandlerThatWaits) {
  Launch job(leaving("exit-waiting", "smp", {"-e", "AQUEDUCT_EXIT_TIMEOUT=25s"}));
  EXPECT_EQ(job.status(), 7) << job.err();
  EXPECT_EQ(job.lines("exit handler").size(), 1u) << job.out();
  EXPECT_EQ(ended_with(job, 7), 3u) << job.err();
  EXPECT_LT(job.took().count(), kTooLong);
}

// The launcher knew already that the rank leaves with 0.
TEST(Leave, WithZeroDoesNotHideThatARankCrashes) {
  Launch job(leaving("zero-crash", "smp"));
  EXPECT_EQ(job.status(), 128 + SIGABRT) << job.out() << job.err();
  EXPECT_THAT(job.err(), HasSubstr("was killed by signal 6"));
  EXPECT_EQ(ended_with(job, 0), 2u) << job.err();
  EXPECT_LT(job.took().count(), kTooLong);
}

TEST(Leave, WithZeroOfARankThatTheSystemEndsForItIsASuccess) {
  Launch job(leaving("zero-computing", "smp", {"-e", "AQUEDUCT_EXIT_TIMEOUT=50ms"}));
  EXPECT_EQ(job.status(), 0) << job.out() << job.err();
  EXPECT_THAT(job.err(), HasSubstr("was killed by signal 9"));
  EXPECT_LT(job.took().count(), kTooLong);
}

TEST(Leave, OfAllRanksAtOnceReturnsTheCodeThatIsReported) {
  for (const std::string conduit : kConduits) {
    Launch job(leaving("all", conduit));
    ASSERT_THAT(job.status(), AnyOf(10, 11, 12)) << job.out() << job.err();
    EXPECT_EQ(count(job.err(), ") left with code "), 1u) << job.err();
    EXPECT_THAT(job.err(), HasSubstr(") left with code " + std::to_string(job.status())));
    EXPECT_LT(job.took().count(), kTooLong);
  }
}

TEST(Leave, SaysNothingOfSuccessUnlessAskedTo) {
  Launch job(aqrun({"-n", "3", "--timeout", "30", program("fault_leave"), "zero"}));
  EXPECT_EQ(job.status(), 0) << job.out();
  EXPECT_EQ(job.err(), "");
}

TEST(Leave, CountsTheOthersInItsReport) {
  Launch job(aqrun({"-n", "3", "--timeout", "30", program("fault_leave"), "one"}));
  EXPECT_EQ(job.status(), 7) << job.out();
  EXPECT_EQ(count(job.err(), "aqrun: "), 1u) << job.err();
  EXPECT_THAT(job.err(), HasSubstr(") left with code 7 (Job::leave or exit); ending the other 2 ranks\n"));
}

// Ranks that only compute do not notice: aqrun ends them after its grace.
TEST(Leave, DoesNotWaitForRanksThatCompute) {
  for (const char* how : {"computing", "signal-computing"}) {
    Launch job(leaving(how, "smp", {}, "0.3"));
    EXPECT_EQ(job.status(), 7) << how << '\n' << job.out() << job.err();
    EXPECT_LT(job.took().count(), kTooLong) << how;
    EXPECT_THAT(job.err(), HasSubstr("was killed by signal 15")) << how;
  }
}

TEST(Leave, IsBoundedIfTheOutputCannotBeFlushed) {
  Launch job(leaving("stuck", "smp", {"-e", "AQUEDUCT_EXIT_TIMEOUT=300ms"}));
  EXPECT_EQ(job.status(), 7) << job.out() << job.err();
  EXPECT_EQ(ended_with(job, 7), 3u) << job.err();
  EXPECT_LT(job.took().count(), kTooLong);
}

TEST(Leave, OfOneRankOfAProcessEndsTheProcess) {
  Launch job(aqrun({"-n", "4", "--endpoints", "2", "--timeout", "30", "--grace", "20", "--verbose",
                    program("fault_leave"), "endpoints"}));
  EXPECT_EQ(job.status(), 7) << job.out() << job.err();
  EXPECT_EQ(ended_with(job, 7), 2u) << job.err();
  EXPECT_THAT(job.out(), Not(HasSubstr("returned")));
}

TEST(Leave, WithoutALauncherEndsTheProcess) {
  Launch job({program("fault_leave"), "endpoints"}, {"AQUEDUCT_ENDPOINTS=3"});
  EXPECT_EQ(job.status(), 7) << job.out() << job.err();
  Launch signal({program("fault_leave"), "all"});
  EXPECT_EQ(signal.status(), 10) << signal.out() << signal.err();
}

// The hosts are pretended: aqrun starts its agents by `env`. The code and the answer pass through two agents.
TEST(Leave, ReachesRanksOnOtherHosts) {
  const support::ScratchFolder folder("/tmp");
  const std::string hosts = folder / "hosts";
  std::ofstream(hosts) << "a\nb\n";
  Launch job(
      leaving("one", "smp", {"--hosts", hosts, "--remote", "env {command}", "-e", "AQUEDUCT_CONDUIT=udp"}));
  EXPECT_EQ(job.status(), 7) << job.out() << job.err();
  EXPECT_EQ(ended_with(job, 7), 3u) << job.err();
  EXPECT_THAT(job.err(), HasSubstr(" on b) exited with status 7"));
  EXPECT_LT(job.took().count(), kTooLong);
}

TEST(Leave, InAForkedChildEndsOnlyTheChild) {
  for (const std::string conduit : kConduits) {
    Launch job(leaving("child", conduit));
    EXPECT_EQ(job.status(), 0) << job.out() << job.err();
    EXPECT_THAT(job.err(), Not(HasSubstr("left with code")));
    EXPECT_EQ(job.lines(", not flushed").size(), 3u + 1u) << "only the child that exits prints it again";
  }
}

TEST(Leave, AfterFinishConcernsNobodyElse) {
  Launch job(leaving("finished", "smp"));
  EXPECT_EQ(job.status(), 3) << job.out() << job.err();
  EXPECT_THAT(job.err(), Not(HasSubstr("left with code")));
  EXPECT_THAT(job.err(), HasSubstr("exited with status 3"));
}

// The destructor of a Job is abrupt, and so is exit(0): the others lose the rank (docs/decisions/0064-leave.md).
TEST(Leave, IsNotWhatAReturnOrAnExitWithZeroDo) {
  Launch zero(leaving("exit-zero", "smp"));
  EXPECT_THAT(zero.status(), AnyOf(1, 60)) << zero.out() << zero.err();
  EXPECT_THAT(zero.err(), HasSubstr("without leaving the job (Job::finish)"));
  Launch returned(leaving("return", "smp"));
  EXPECT_THAT(returned.status(), AnyOf(7, 60)) << returned.out() << returned.err();
  for (const Launch* job : {&zero, &returned}) {
    EXPECT_EQ(job->lines("returned: ").size(), 2u) << job->out() << job->err();
    EXPECT_THAT(job->err(), Not(HasSubstr("left with code")));
  }
  EXPECT_LT(zero.took().count() + returned.took().count(), kTooLong);
}

}  // namespace
}  // namespace aqueduct::fault
