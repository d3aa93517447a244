// The status that aqrun returns for what ranks tell it, by scripts that speak with it as the library does.

#include "tests/integration/aqrun_job.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace aqueduct::integration {
namespace {

/// Options, and a script for bash in which $p is the process's number, `leave N` sends a Leave with a code and `abort N` an Abort.
std::vector<std::string> speaking(std::vector<std::string> options, const std::string& script) {
  // Numbers have two bytes here; bash, as channels may have numbers of two digits.
  const std::string words =
      "f=${AQUEDUCT_BOOTSTRAP#fd:}; f=${f%%,*}; p=${AQUEDUCT_BOOTSTRAP#*process:}; p=${p%%,*}; "
      "number() { printf \"\\\\x$(printf %02x $(($1 & 255)))\\\\x$(printf %02x $(($1 >> 8)))\\\\0\\\\0\"; }; "
      "leave() { (printf '\\x09\\0\\0\\0\\x08'; number $p; number $1) >&$f; }; "
      "abort() { (printf '\\x0c\\0\\0\\0\\x06'; number $1; number 3; printf why) >&$f; }; ";
  options.insert(options.end(), {"/bin/bash", "-c", words + script});
  return options;
}

// Rank 1 fails when aqrun has told it that rank 0 has left with 0.
constexpr const char* kAfterTheNews =
    "if [ $p = 0 ]; then leave 0; exit 0; fi; dd bs=13 count=1 <&$f >/dev/null 2>&1; ";

TEST(AqrunCodes, ALeaveWithZeroIsASuccess) {
  AqrunJob job(speaking({"-n", "2"}, std::string(kAfterTheNews) + "exit 0"));
  EXPECT_EQ(job.status(), 0) << job.err();
  EXPECT_EQ(job.err(), "");
}

TEST(AqrunCodes, ALeaveWithZeroHidesNoLaterFailure) {
  AqrunJob exits(speaking({"-n", "2", "--grace", "20"}, std::string(kAfterTheNews) + "exit 3"));
  EXPECT_EQ(exits.status(), 3) << exits.err();
  EXPECT_TRUE(has(exits.err(), "exited with status 3")) << exits.err();
  AqrunJob leaves(speaking({"-n", "2", "--grace", "20"}, std::string(kAfterTheNews) + "leave 4; exit 4"));
  EXPECT_EQ(leaves.status(), 4) << leaves.err();
  AqrunJob crashes(speaking({"-n", "2", "--grace", "20"}, std::string(kAfterTheNews) + "kill -SEGV $$"));
  EXPECT_EQ(crashes.status(), 128 + SIGSEGV) << crashes.err();
  AqrunJob aborts(speaking({"-n", "2", "--grace", "20"}, std::string(kAfterTheNews) + "abort 5; sleep 60"));
  EXPECT_EQ(aborts.status(), 5) << aborts.err();
}

TEST(AqrunCodes, ALeaveWithZeroHidesNoInterrupt) {
  AqrunJob job(
      speaking({"-n", "2", "--grace", "20"}, std::string(kAfterTheNews) + "echo knows; exec sleep 60"));
  ASSERT_TRUE(job.read_until([&] { return job.count_lines("knows") == 1; })) << job.err();
  job.signal(SIGINT);
  EXPECT_EQ(job.status(), 128 + SIGINT) << job.err();
}

TEST(AqrunCodes, ALeaveWithAnotherCodeCountsAlone) {
  AqrunJob job(
      speaking({"-n", "2", "--grace", "20"},
               "if [ $p = 0 ]; then leave 7; exit 7; fi; dd bs=13 count=1 <&$f >/dev/null 2>&1; exit 18"));
  EXPECT_EQ(job.status(), 7) << job.err();
  EXPECT_FALSE(has(job.err(), "status 18")) << job.err();
}

TEST(AqrunCodes, AnAbortIsNeverASuccess) {
  for (const char* code : {"0", "256"}) {
    AqrunJob job(
        speaking({"-n", "2"}, "if [ $p = 0 ]; then abort " + std::string(code) + "; fi; exec sleep 60"));
    EXPECT_EQ(job.status(), 1) << job.err();
    EXPECT_TRUE(has(job.err(), "aborted the job with status " + std::string(code) + ": why")) << job.err();
  }
}

}  // namespace
}  // namespace aqueduct::integration
