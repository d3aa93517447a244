// A rank dies at any point: the others are told in time and end well, and aqrun reports which rank and why.

#include "tests/fault/launch.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <ostream>
#include <string>

namespace aqueduct::fault {
namespace {

constexpr double kLimit = 2000;  // ms; specified: issue 2

struct Death {
  const char* when;
  const char* how;
  int victim;
  int ranks = 3;
  const char* setting = nullptr;
};
void PrintTo(const Death& death, std::ostream* out) { *out << death.when << " by " << death.how; }

class LostRank : public testing::TestWithParam<Death> {};

TEST_P(LostRank, IsNoticedInTimeAndReported) {
  const Death& death = GetParam();
  std::vector<std::string> arguments{"-n", std::to_string(death.ranks), "--timeout", "30", "--grace", "20"};
  if (death.setting != nullptr) arguments.insert(arguments.end(), {"-e", death.setting});
  arguments.insert(arguments.end(),
                   {program("fault_victim"), death.when, death.how, std::to_string(death.victim)});
  Launch job(aqrun(arguments));
  const bool killed = std::string_view(death.how) == "kill";
  EXPECT_EQ(job.status(), killed ? 137 : std::atoi(death.how)) << job.out() << job.err();

  const std::string who = "aqrun: rank " + std::to_string(death.victim) + " (pid ";
  EXPECT_EQ(count(job.err(), who), 1u) << job.err();
  const std::string how =
      killed ? ") was killed by signal 9 (Killed)" : ") exited with status " + std::string(death.how);
  EXPECT_TRUE(has(job.err(), how)) << job.err();

  const auto others = static_cast<std::size_t>(death.ranks - 1);
  EXPECT_EQ(job.lines("noticed peer_lost").size(), others) << job.out() << job.err();
  const std::string_view when = death.when;
  if (when == "before" || when == "during") {
    EXPECT_LT(job.took().count(), 5.0);  // the whole job, also on a busy machine
    EXPECT_TRUE(has(job.err(), "process " + std::to_string(death.victim) + " died before it took part"))
        << job.err();
    return;
  }
  const std::string lost = "noticed peer_lost (rank " + std::to_string(death.victim) + ")";
  EXPECT_EQ(job.lines(lost).size(), others) << job.out();
  EXPECT_EQ(job.lines("; lost 1; barrier 1; finish 1").size(), others) << job.out();
  for (const std::string& line : job.lines("after ")) {
    double took = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "after %lf ms", &took), 1) << line;
    EXPECT_LT(took, kLimit);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Faults, LostRank,
    testing::Values(Death{"before", "kill", 1}, Death{"before", "3", 0}, Death{"during", "kill", 0},
                    Death{"during", "3", 2}, Death{"barrier", "kill", 1}, Death{"barrier", "3", 0},
                    Death{"barrier", "kill", 1, 2}, Death{"barrier", "kill", 7, 8}, Death{"puts", "kill", 2},
                    Death{"puts", "3", 1}, Death{"messages", "kill", 0}, Death{"messages", "3", 2},
                    Death{"sleep", "kill", 1}, Death{"sleep", "3", 2}, Death{"sleep", "kill", 0, 20},
                    Death{"barrier", "kill", 1, 3, "AQUEDUCT_SMP_MEMORY=posix"},
                    Death{"sleep", "kill", 0, 3, "AQUEDUCT_SMP_MEMORY=posix"}),
    [](const auto& info) {
      return std::string(info.param.when) + "_" + info.param.how + "_" + std::to_string(info.param.victim) +
             "_of_" + std::to_string(info.param.ranks) + (info.param.setting != nullptr ? "_posix" : "");
    });

TEST(LostRank, ThatExitsWithZeroButWithoutLeavingIsReportedAndSpoilsTheJob) {
  Launch job(
      aqrun({"-n", "3", "--timeout", "30", "--grace", "20", program("fault_victim"), "barrier", "0", "1"}));
  EXPECT_EQ(job.status(), 1) << job.out() << job.err();
  EXPECT_EQ(job.lines("noticed peer_lost (rank 1)").size(), 2u) << job.out() << job.err();
  EXPECT_EQ(count(job.err(), "aqrun: rank 1 (pid "), 1u) << job.err();
  EXPECT_TRUE(has(job.err(), ") exited with status 0, but without leaving the job (Job::finish)"))
      << job.err();
}

// The rule holds for every size: a program without `finish` fails with one rank too.
TEST(LostRank, ThatWasTheOnlyOneIsReportedToo) {
  Launch job(aqrun({"-n", "1", "--timeout", "30", program("fault_victim"), "barrier", "0", "0"}));
  EXPECT_EQ(job.status(), 1) << job.out() << job.err();
  EXPECT_TRUE(has(job.err(), ") exited with status 0, but without leaving the job (Job::finish)\n"))
      << job.err();
}

}  // namespace
}  // namespace aqueduct::fault
